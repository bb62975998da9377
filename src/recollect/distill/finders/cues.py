"""Words that tell what a sentence is: a wish that lasts, a complaint, a trap, a cause, a decision.

Some twenty languages, pooled: a cue counts the same in any of them. What is sought is form,
not subject. A cue that most people use for a moment's task ("only this page") is kept apart
from one that lasts ("from now on"), because only the second is told at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.screened import Screens

_SCREENS = Screens(re.IGNORECASE)
_NAMES: list[str] = []


def _cue(name: str, latin: str, *others: str) -> None:
    """One cue: words that stand between other words, and what is sought anywhere."""
    _NAMES.append(name)
    _SCREENS.add("|".join([rf"\b(?:{latin})\b", *others]))


# A person's wish that outlives the task.
_cue(
    "lasting",
    r"from now(?: on)?|in (?:the )?future|going forward|never|always|every ?time|each time|whenever"
    r"|after (?:each|every)|before (?:each|every|any|you (?:commit|push|merge|change|edit|do|make"
    r"|start any))|at all times|one at a time"
    r"|(?:as (?:the )?|by )default|without (?:asking|permission|explicit)|unless i"
    r"|i(?:'d| would) (?:rather|prefer)|i prefer|ask me|i will (?:do|run|create|check)"
    r"|stop \w+ing|remember (?:to|that)|remember:|note that|stick to"
    r"|should (?:remain|stay|always|never)|as (?:each|every) \w+ (?:is|are|gets?) \w+"
    r"|every (?:\d+|two|three|five|ten) \w+",
    "今後|以後|必ず|常に(?!.{0,12}(?:わけ|とは|限ら))|毎回|勝手に|ないこと|廃止|原則|方針です"
    "|絶対に|以后|今后|每次|始终|一律|别再|不再|不要再|务必|记住"
    "|(?<!我)记得|千万|一定要|从现在起|从现在开始|默认用|每[一二两三四五六七八九十0-9]+(?:轮|次"
    "|步|天)|(?:这个|本|该)项目.{0,12}(?:只|不用|都"
    "|必须)|從現在|以後|每次|務必|記住|一律"
    "|mặc định|luôn|không được|đừng|mỗi khi|từ (?:giờ|nay|bây giờ)|tuyệt đối|bắt buộc|khong duoc"
    "|tu (?:nay|gio) tro di"
    "|항상|하지 ?(?:마|말)|지 ?(?:마세요|마라|말아)|앞으로|반드시|절대|매번|всегда|никогда"
    "|отныне|впредь|каждый раз"
    "|обязательно",
)
# What holds here whoever works: a practice, an owner, a way to answer.
_cue(
    "policy",
    r"we (?:always|never|only|don'?t|do not|usually) (?!need|have|want|know|see|get|care|think"
    r"|run into)\w+|we (?:use|follow|avoid|squash|prefer)"
    r"|mandatory|off[- ]limits|prohibited|(?<!that )(?:is|are) (?:auto-?)?generated(?=[,.;:]"
    r"| from| by|$)|(?:another|the other) team|source of truth"
    r"|(?:when|if|once|whenever) you (?:add|change|edit|create|rename|touch|write|commit|push"
    r"|remove|update|finish|make|are done)\b.{3,80}"
    r"(?:also|make sure|update|add|run|please|should|must|never|do not|don'?t|tell|ask|check|use"
    r"|keep)"
    r"|you (?:need|have) to .{3,60}(?:after|before|when(?:ever)?|every time|each time)"
    r"|ask (?:me )?(?:first|before)|before (?:you )?(?:install|commit|push|delet|merg)\w*"
    r"|(?:in|for|across|throughout) (?:this|our|the whole|the entire) (?:repo(?:sitory)?|project"
    r"|code ?base|monorepo)"
    r"|(?:settle on|stick (?:to|with)|standardi[sz]e on)|i(?:'m| am) (?:on|using) (?:windows"
    r"|mac(?:os)?|linux|wsl|ubuntu|debian|fedora|arch|powershell|zsh|fish|bash)"
    r"|(?:keep|make) (?:your |the )?(?:answers?|replies|responses?|explanations?|summar(?:y|ies)"
    r"|output|comments?|commits?|messages?) (?:short|brief|concise|small|simple)"
    r"|(?:mobile|container|offline|local|docs|api|types?|tests?|safety|security"
    r"|keyboard)[- ]first|intended to be"
    r"|(?:all|any|every|each) (?:of )?(?:our |the |your |these )?(?:new )?(?:changes|features?"
    r"|commands|options|settings|fields|endpoints?)\b.{0,50}(?:documented|reflected|tested"
    r"|covered)"
    r"|we must (?:never|always|not|omit|avoid|keep|stay|respect)"
    r"|be (?:brief|concise)|i don'?t (?:need|want) (?:a|any|your|you to)|(?:messages?|names?"
    r"|tests?|files?|commits?|branches|comments?|docs?|types?|functions?) (?:should|must|have to"
    r"|live|go)",
    r"^no (?!problem|worries|idea|need|it|the|that|i|we|you|this)\w+ (?:in|on|for|without|unless"
    r"|before|to)\b",
)
# To be asked first, in any language: who asks, and before what.
_cue(
    "policy",
    r"(?:ask|check with|warn|consult|confirm with) me|tell me (?:first|before)|(?:let"
    r"|wait for) me .{0,40}(?:first|before)|without (?:checking|asking|telling)"
    r"|frag\w*.{0,30}(?:vor|bevor)|bevor du|(?:avant de|antes de|prima di) .{2,50}(?:demand"
    r"|pregunt|pergunt|avis|consult|chied)\w*"
    r"|(?:demand|pregunt|pergunt|avis|consult|chied)\w+.{0,30}(?:avant|antes|prima)"
    r"|trước khi .{2,50}(?:hỏi|xác nhận|báo)|hỏi .{0,20}trước khi",
    "(?:спрашивай|спроси|предупре).{0,40}перед|перед .{3,40}(?:спр|предупре)|先.{0,6}(?:跟我"
    "|问我|和我"
    "|让我|征求|与我)|前に.{0,12}(?:確認|聞い|相談)"
    "|전에.{0,12}(?:물어|확인|말해)",
)
# Who does what, and on what: said of oneself.
_cue(
    "policy",
    r"i(?:'ll| will| do| always| usually|'d| would)? .{2,40} myself"
    r"|i'?m (?:not )?an? (?:developer|programmer|coder|expert|beginner|designer|student|native)"
    r"|i'?m new to"
    r"|ich .{2,30} (?:selbst|selber)|(?:mache?|erledige|übernehme) ich|je m'en occupe|lo hago yo"
    r"|yo mismo|tôi tự|tôi (?:đang )?dùng",
    r"^our (?!issue|problem|bug|error|app|test|goal|plan|next)\w+.{0,40}\b(?:is|are|runs?|uses?"
    r"|lives?|needs?|ha(?:s|ve)|wants?)\b"
    "|私(?:（[^）]*）)?が(?:実施|や[るり]|行[うい]|実行|対応)(?!し(?:まし)?た)"
    "|我再(?:来)?(?:决定|确认)|(?:等|由"
    "|让)我.{0,6}(?:决定|确认)|я (?:сам|сама) |я сделаю|我自己|我用的是|我使用的是|我的(?:系统"
    "|电脑|环境)是|自分で(?:やり|行い|し)"
    "|제가 직접",
)
# How answers should be, and how much is done at once.
_cue(
    "policy",
    r"(?:antworte\w*|responde|réponds|rispondi|answer|reply|explain|respond|write|describe"
    r"|erkläre?|explica|explique).{0,30}(?:kurz|knapp|breve|corto|court|short|brief|briefly"
    r"|concise\w*|simple|plain|simply|einfach)"
    r"|(?:simple|plain) (?:words|english|language)|one .{0,20}per \w+|small(?:er)? commits?"
    r"|one (?:commit|change|pr|file|task|step|question|thing) at a time|default to"
    r"|(?:trả lời|giải thích) .{0,12}(?:ngắn|đơn giản)",
    "(?:説明|回答|返答|返信|報告|出力).{0,10}(?:短|簡潔|わかりやすく|不要)|(?:回答|回复|解释"
    "|说明|汇报|输出|注释).{0,10}(?:简短|简洁|简单"
    "|写中|用中|用英|写英|不用)"
    "|(?:설명|답변|대답|응답).{0,10}(?:짧게|간단|해 ?주)|(?:отвечай|пиши"
    "|объясняй).{0,20}(?:коротко|кратко"
    "|просто)",
)
# What holds for all of them; one way and not another.
_cue(
    "policy",
    r"(?:use|write|run|call|put|prefer|import|usa|use|utilise|verwende|nimm|schreib\w*|gebruik"
    r"|używaj|dùng).{2,60}, (?:not|never|nicht|pas|no|não|non|nie|niet|không)"
    r"|(?:runs?|works?|goes|deploys?|releases?|comes?) .{3,60} only|(?:nicht|ne pas|no"
    r"|not) .{0,20}(?:von hand|à la main|a mano|manually|by hand)"
    r"|dự án (?:này )?(?:chỉ|không|dùng)|chỉ dùng|her \w+(?:ten|tan|den|dan) sonra",
    r"^(?:every|each|all|any) (?:new )?\w+.{0,40}\b(?:needs?|goes|go|must|ha(?:s|ve) to)\b"
    "|(?:所有|每个).{1,20}(?:要|必须|统一)|统一(?:为|用|使用|成|采用)|(?:すべて"
    "|全て)の?.{1,20}(?:こと|必要)|만 (?:사용|쓰|써)"
    "|используй.{2,60}, (?:а )?не |方針で",
)
# What somebody saw, with words that a wish has too: "the spinner never stops".
_cue(
    "observed",
    r"(?:never|always) (?!unless|is|as|this|across|pass|process|access)\w+s|i (?:always"
    r"|never) (?:get|see|saw|have|got|had|heard)"
    r"|(?:is|are|was|were|has|have|ha|est|está|é) (?:always|never|siempre|sempre|toujours)"
    r"|(?:always|never) (?:showed|returned|failed|worked|stopped|got|did)"
    r"|immer noch|immer wieder|toujours (?:pas|la|le|les|une?|cette)|siempre (?:sale|aparece"
    r"|falla|da|me)|still always",
    "всегда (?:возвращает|показывает|падает)|每次都(?:会|是|报|出)|毎回.{0,15}(?:出る|なる|起き"
    "|落ち)|luôn (?:bị"
    "|báo|hiện)",
)
_cue(
    "lasting",
    r"immer(?! (?:noch|wieder))|nie(?:mals)?|ab (?:jetzt|sofort|heute)|(?:in )?zukunft|künftig"
    r"|jedes mal|vor jede[mr]|nach jede[mr]|ausschlie(?:ß|ss)lich"
    r"|grundsätzlich|standardmäßig|merk dir|ohne (?:rück)?(?:frage|absprache|zu fragen)"
    r"|wir (?:verwenden|benutzen|nutzen|nehmen) (?:hier|immer|nur|kein\w*)"
    r"|toujours(?! (?:pas|la|le|les|une?|cette))|jamais|à partir de maintenant|désormais"
    r"|dorénavant|à chaque fois|(?:avant|après) chaque|par défaut"
    r"|n'oublie(?:z)? pas|souviens-toi|retiens|sans (?:me |nous )?demander|nous utilisons"
    r"|on utilise"
    r"|siempre|nunca|a partir de (?:ahora|agora)|de ahora en adelante|en adelante|cada vez que"
    r"|(?:antes|después|depois) de cada|por (?:defecto|padrão)"
    r"|sin (?:preguntar\w*|permiso)|recuerda|no olvides|sempre|daqui (?:pra|para a) frente"
    r"|de agora em diante|toda vez que|sem (?:me )?perguntar|lembre(?:-se)?"
    r"|d'ora in (?:poi|avanti)|ogni volta|(?:prima di|dopo) ogni|ricorda(?:ti)?|senza chiedere"
    r"|non \w+ mai"
    r"|altijd|nooit|vanaf nu|voortaan|elke keer|(?:voor|na) elke|zonder te vragen|onthoud|alltid"
    r"|aldrig|aldri|altid|från och med nu|fra nå av|fremover"
    r"|zawsze|nigdy|od teraz|za każdym razem|(?:przed|po) każdym|bez pytania|pamiętaj|domyślnie"
    r"|vždy|nikdy|od teď|mindig|soha|aina"
    r"|her zaman|asla|bundan (?:sonra|böyle)|her seferinde|sormadan|selalu|jangan|mulai sekarang"
    r"|setiap kali|tanpa (?:bertanya|izin)",
    r"больше не \w+(?:й|йте|и|ите|ь|ьте)\b|(?:перед|после) кажд\w+|с этого момента|по умолчанию"
    r"|без (?:моего|спроса|разрешения|согласия)|завжди|ніколи|відтепер"
    "|हमेशा|कभी (?:भी )?(?:नहीं|मत)|अब से|دائما|دائمًا|أبدا|من الآن|תמיד|אף פעם|מעכשיו|เสมอ|ห้าม"
    "|ทุกครั้ง|ต่อไปนี้|πάντα|ποτέ|από εδώ και",
)
# A rule, of the task perhaps.
_cue(
    "strong",
    r"(?:do not|don'?t|dont)(?! (?:\w+ )?(?:need|have|know|think|care|see|want to be))"
    r"|no need (?:to|for)|make sure (?:you|to|that)|must(?: not|n't)?|not allowed|forbidden"
    r"|unless|instead of|rather than"
    r"|should(?: not|n't| also)|prefer|avoid|only (?:use|change|fix|edit|do|update|when|if)"
    r"|without changing|no (?:fallback|mock|docker|new|more)\w*|keep \w+ing|stay",
    "禁止|不要(?!ファイル|な|の)|必须|しないで|ではなく|のみ|だけに|べき|すること|(?:英語|日本語"
    "|中文|英文)(?:で|に|回答|回复)"
    "|(?<![级个特类区分性识辨告])别|暂时|只(?:登记|需|能|要|用)|先.{0,15}再|要更新|不使用"
    "|没有意义|不应该|不得|统一"
    "|chỉ (?:lưu|gọi|call|khi|delete|lấy|cần|chạy)|(?:^|\\s)bỏ |mới (?:call|search|gọi)"
    "|ko cần|không cần|thay vì|(?<!ko )(?<!không )phải|금지|해야|не надо|не нужно|нельзя|должен"
    "|только",
)
_cue(
    "strong",
    r"bitte (?:nicht|kein\w*)|nicht (?:ändern|anfassen|verwenden|benutzen|committen|löschen"
    r"|anlegen)|muss|müssen|darf nicht|dürfen|sollte[nt]?|statt|anstatt"
    r"|verwende\w*|vermeide|nur (?:wenn|noch|mit|über)|verboten|pflicht"
    r"|ne \w+(?:e|ez|is|ons) pas|il (?:ne )?faut(?: pas)?|(?:doit|doivent)|au lieu de|plutôt que"
    r"|évite[rz]?|uniquement|seulement (?:si|quand)|interdit|obligatoire"
    r"|no (?:uses|hagas|toques|cambies|modifiques|crees|borres|añadas|agregues|pongas|escribas"
    r"|edites|instales|subas|ejecutes)|evita\w*|en (?:vez|lugar) de"
    r"|prefier[oae]|deben?|debes|tiene[ns]? que|solo (?:usa|cuando|si|para)|únicamente|solamente"
    r"|prohibido|obligatori[oa]"
    r"|não (?:use|faça|mexa|altere|crie|apague|adicione|edite|instale|rode|suba|quero|deve)"
    r"|prefira|em vez de|devem?|tem que|somente|apenas (?:se|quando)|proibido"
    r"|non (?:usare|toccare|modificare|creare|cancellare|aggiungere|fare|scrivere)|preferisci"
    r"|invece di|vietato|niet (?:aanpassen|gebruiken|wijzigen|aanraken)"
    r"|in plaats van|alleen (?:als|wanneer|met)|verplicht|nie (?:używaj|zmieniaj|dotykaj|twórz"
    r"|rób|dodawaj|usuwaj)|zamiast|tylko (?:gdy|jeśli)"
    r"|yerine|kullanma|değiştirme|sadece|daripada|hanya (?:jika|kalau|untuk)|harus",
    r"не (?:используй|трогай|меняй|создавай|удаляй|добавляй|пиши|делай|коммить|пушь)\w*|вместо"
    r"|마세요|말고|대신|मत |ห้าม|อย่า",
)
# Where a rule holds, and where it does not.
_cue(
    "only",
    r"only (?:when|if|for|the|use|change|fix|on|in|after|with)|unless|except|nothing but",
    "只(?:登记|需|能|要|用|在|有)|仅|のみ|だけ(?!で)|chỉ (?:lưu|gọi|call|khi|lấy|cần|trả|tính)"
    "|mới (?:call|search|gọi|được|update|hiển)|только",
)
_cue(
    "complaint",
    r"why (?:did|do|are|is|does)|you (?:didn'?t|did not|forgot|missed|broke|removed|keep)|again"
    r"|still"
    r"|wrong|not what|i (?:told|said|asked|noticed|already)|stop|nope|revert|undo|not working"
    r"|broken"
    r"|it (?:doesn'?t|does not|isn'?t|didn'?t)|useless|hate|dislike|annoy\w*|confus\w*"
    r"|too (?:much|many|long|complex)",
    "为什么|没有按|没按|又|还是|不对|不是|错了|重复|遗漏|感觉|没有意义|看不懂"
    "|なぜ|まだ|違|じゃなく|おかしい|のに|ダメ|だめ|sao |vẫn|không phải|chưa|sai|왜|почему|опять"
    "|неправильно",
)
_cue(
    "language",
    r"(?:in|use|answer|reply|respond|write|speak) (?:in )?(?:english|japanese|chinese|vietnamese"
    r"|korean|russian|german|french|spanish|portuguese)",
    "中文|英文|日文|日本語|英語|繁體|tiếng (?:việt|anh)|한국어|영어로|по-(?:русски|английски)"
    "|на (?:русском"
    "|английском|украинском)"
    r"|\b(?:auf (?:deutsch|englisch)|en (?:français|anglais|español|inglés|castellano)"
    r"|em (?:português|inglês)|in (?:italiano|inglese|het nederlands|het engels)"
    r"|po (?:polsku|angielsku)|türkçe|ingilizce|bahasa (?:indonesia|inggris)|på (?:svenska|norsk"
    r"|dansk|engelska))\b",
)
_cue(
    "trap",
    r"the (?:real |actual |underlying )?(?:issue|problem|root cause|reason|culprit) (?:is|was)"
    r"|root cause|caused by|(?:is )?blocked by|only (?:accepts?|works?|runs?|supports?|allows?"
    r"|reads?)"
    r"|does(?:n'?t| not) (?:exist|support|accept|work|serve|see|load)|can(?:no|')t be"
    r"|must (?:be|not|have|run|use)|needs? to be|requires?|before (?:making|running)|not available"
    r"|(?:is|are) denied|no such|ha(?:s|ve) no|there is no|takes? (?:about|around|~)|otherwise"
    r"|unless|rejects?|expects?",
    "原因は|が原因|根本原因|阻塞|被拒绝|无法访问|必须先|否则|必要があります|できません|されない"
    "|nguyên nhân|không thể|bị chặn|потому что|때문에",
)
_cue(
    "cause",
    r"because|root cause|caused by|due to|the (?:issue|problem|reason|culprit|cause)|turns out"
    r"|which means|as a result|that'?s why",
    "原因|因为|由于|导致|问题在于|根因|ため|によ[りっ]|ので|nguyên nhân|vì |때문|причин|потому",
)
_cue(
    "limit",
    r"can ?not|can'?t|do(?:es)? ?n[o']t|won'?t|fail(?:s|ed|ing)?|unsupported|not supported|unable"
    r"|block(?:s|ed)|(?:not |un)available|requir\w+|needs?|only works?|must be|limit(?:s|ed)?"
    r"|unless"
    r"|otherwise|no longer|missing|not (?:found|installed|reachable|set|exist)|reject\w*|refus\w*"
    r"|conflict\w*|timeout|break(?:s|ing)?|broken|hang(?:s)?|crash(?:es|ed)?|denied",
    "无法|不能|不支持|失败|限制|否则|没有|缺少|报错|被拦截|拒绝|できない|できません|失敗|必要"
    "|制限|未対応|落ち[るた]"
    "|ないと|エラー|ブロック|không thể|lỗi|thất bại|cần |thiếu|chặn|못|불가|нельзя|не работает"
    "|ошибк",
)
_cue(
    "decision",
    r"decid\w+|we(?:'ll)? (?:use|keep|go)|chos\w+|instead of|rather than|by default|defaults?"
    r"|priorit\w+|drop(?:ped)?|deprecat\w+|moved? (?:to|into)|policy|convention|by design"
    r"|single source|canonical|source of truth|no longer|strategy|architecture|mvp|scope",
    "决定|采用|改用|默认|优先|规则|方案|暂停|不再|统一|定为|方針|採用|決定|既定|優先|廃止|ルール"
    "|分離|に統一"
    "|quyết định|ưu tiên|mặc định|thay vì|quy tắc|nghiệp vụ|결정|기본|решен|по умолчанию",
)
_cue(
    "environment",
    r"install(?:ed)?|versions?|ports?|localhost|sandbox|network|permissions?|docker|windows|linux"
    r"|macos"
    r"|ubuntu|node ?\d*|python ?\d*|env(?:ironment)?|api[_ ]?key|shell|powershell|git bash|zsh|vm"
    r"|container|ci|server|proxy|database|venv|worktree",
    "安装|版本|端口|环境|网络|权限|编码|インストール|バージョン|ポート|環境|ネットワーク|権限"
    "|サーバ"
    "|cài|phiên bản|cổng|môi trường|quyền",
)
_cue(
    "open",
    r"next (?:step|up|is|are|:)|remaining|to-?do|not yet|pending|left to|later|follow-?up"
    r"|unfinished"
    r"|outstanding|still (?:need|to|fail|open)\w*|blocked on|waiting|placeholder"
    r"|not (?:implemented|tested|verified|run|committed)",
    "下一步|待办|还没|未完成|尚未|剩余|接下来|次の|残り|未実施|未確認|これから|tiếp theo|còn lại"
    "|chưa"
    "|남은|다음|дальше|осталось",
)
_cue(
    "place",
    r"located|lives? (?:in|at|under)|(?:is|are) in|under|directory|folder|path|repo(?:sitory)?"
    r"|sibling|submodule|root",
    "位于|目录|路径|仓库|配下|にあ[りる]|ディレクトリ|パス|フォルダ|nằm ở|thư mục|đường dẫn|폴더"
    "|каталог",
)
_cue(
    "run",
    r"run|start|launch|execute|build|test|reload|restart|rebuild|reinstall",
    "运行|启动|执行|重启|実行|起動|ビルド|再起動|chạy|khởi động|실행|запуст",
)
_cue(
    "narration",
    r"i'll|let me|i'm going to|i will now|now let",
    r"^(?:i|i'm|i've|i will|i am|let's|now i|first,? i|next,? i|okay|ok|sure|great|perfect"
    r"|excellent"
    r"|good|alright|got it|you'?re (?:absolutely )?right|thanks|sorry|hello|hi)\b",
    "让我|我来|我将|我先|我会|现在我|^好的|^明白|これから|確認します|進めます|実施します|見ます。"
    "|します。$|(?:tôi|mình) (?:sẽ|đang|vừa)|để (?:tôi|mình)|제가|сейчас я",
)
_cue(
    "offer",
    r"if you(?:'d)? (?:want|like|prefer|need|later)|let me know|would you like|shall i|should i"
    r"|want me to|happy to|i can (?:also|add|help|do|next)|we can|you can (?:then|also|now)"
    r"|do you want|say the word|just (?:tell|ask)|which (?:one|would)|your (?:preference|call)",
    "如果你|需要我|要不要|是否需要|你可以告诉|请告诉|必要なら|ご希望|よろしければ|ご指示"
    "|教えてください"
    "|しましょうか|nếu bạn|nếu cần|bạn muốn|원하시면|если хотите",
)
_cue(
    "done",
    r"done|completed?|success(?:fully)?|updated|implemented|added|created|wired|refactored|applied"
    r"|verified|passed|committed|pushed",
    "完成|成功|通过|しました|完了|済み|追加|đã |xong|완료|готово",
)
_cue(
    "hedge",
    r"maybe|might|probably|could|perhaps|possibly|likely|appears?|seems?|i think|consider"
    r"|optional(?:ly)?|e\.g\.|for example|suggest\w*|recommend\w*|would",
    "可能(?![でなにと。、])|也许|建议|大概|かも|と思|おそらく|推奨|có thể|có lẽ|nên xem|возможно",
)
_cue(
    "negation",
    r"not|no|never|don'?t|without|none|nothing|cannot|can'?t|isn'?t|doesn'?t|won'?t|didn'?t|avoid"
    r"|nicht|kein\w{0,2}|nie(?:mals)?|ohne|pas|jamais|aucun\w*|sans|nunca|sin|não|sem|non|mai"
    r"|niet|geen|nooit|nie|nigdy|bez|inte|ikke|aldrig|asla|jangan|tidak|tanpa",
    "不|没|无|别|禁止|ない|ません|không|chưa|đừng|ko |안 |못|не |нет",
)
_cue(
    "imperative",
    r"please",
    r"^(?:use|run|add|make|do|don'?t|keep|ensure|set|check|fix|update|create|remove|move|avoid"
    r"|start"
    r"|stop|read|write|install|put|change|test|commit|push|call|ask|wait|never|always|only|follow"
    r"|treat|save|delete|verify)\b",
    "^(?:请|不要|先|必须|把|将|用)|ください|て下さい|してくれ|nhé|cho tôi|hãy",
)
_cue(
    "condition",
    r"if|when|unless|until|in case|once|before|after",
    "如果|当|の場合|とき|すると|khi|nếu|면|если",
)
_cue(
    "social",
    r"thanks?|thank you|great|perfect|excellent|awesome|congrat\w*|nice|cool|good (?:job|work"
    r"|question)"
    r"|hello|production[- ]ready|rock[- ]solid",
    "谢谢|很好|ありがとう|cảm ơn",
)
# What wants an answer, not a change.
_cue(
    "question",
    r"what|how|can you|could you|do you|is (?:there|it)|are there|where|who|which|explain|show me"
    r"|let me know",
    r"^(?:warum|wieso|wie|was|wo|pourquoi|comment|où|quel\w*|cómo|por ?qu[eé]|qué|dónde|como|onde"
    r"|waarom|hoe|perché|dlaczego|jak|neden|nasıl|kenapa|bagaimana|почему|как|где|зачем)\b"
    r"|[?？]\s*$|왜 |나요|吗|有没有|\bcó .{2,70} (?:ko|không|chưa)\W*$|呢[。？]?$|什么|怎么|哪"
    r"|教えて|説明して|ですか|でしょうか"
    r"|ますか|nhỉ|(?<!những )gì(?! đó)|cách nào|thế nào|chưa$|vậy$|tại sao|무엇|어떻게",
)
# What is to be done now.
_cue(
    "request",
    r"help me|i need you|for me|i(?:'d| would) (?:\w+ )?like (?:to|your|you|some)|yes,? please"
    r"|allow for|lastly|let'?s(?! (?:settle|stick|standardi|use .{2,40} (?:instead|rather)))",
    r"^(?:please )?(?:add|fix|implement|create|update|make|write|change|remove|delete|refactor"
    r"|build|run|push|commit"
    r"|find|check|look|see|read|review|generate|set up|move|rename|execute|continue"
    r"|proceed)\b(?! (?:messages?|scripts?|files?|names?|results?|output) \w)"
    r"|^(?:füge|erstelle|ändere|mach|behebe|ajoute|corrige|crée|mets|agrega|añade|crea|haz|cambia"
    r"|adicione|crie|corrija|faça|aggiungi|correggi|voeg|maak"
    r"|dodaj|napraw|ekle|düzelt|tambahkan|buat|perbaiki|добавь|исправь|создай|сделай|напиши)\w*\b"
    r"|추가해|수정해|만들어",
    "^(?:thêm|sửa|kiểm tra|xem|tạo|viết|gộp|cập nhật|update|giờ|ok |check)|cho tôi|giúp tôi|帮我"
    "|给我|我想|请(?:先|查|阅)|搜索"
    "|してくれ|作成して|修正して|追加して|削除して|がほしい|が欲しい",
)
# Not so, but so.
_cue(
    "correction",
    r"not what i (?:asked|said|wanted|meant)|that'?s not (?:it|right|what|how|true)",
    r"^(?:no[,.:]|nope|wrong|incorrect)(?:\b|\s)",
    "^(?:ko phải|không phải|不是|不对|错了|そうではなく|そうじゃなく|違[いう]|아니|нет[,.])",
)
# How the agent went about it, not what the program does.
_cue(
    "of the agent",
    r"why (?:did|do|are) you|you (?:didn'?t|did not|forgot|missed|broke|removed|keep|never|should"
    r"|must|don'?t|always)"
    r"|i (?:already )?(?:told|said|asked) (?:you)?|not what i (?:asked|said|wanted|meant)"
    r"|without (?:asking|my)|(?:not|isn'?t) your (?:job|role|work)"
    r"|you(?:'re| are) not \w+ing|(?:are|were) you even|instead of (?:you|your)",
    "没按|感觉你|你(?:没|不|又|应该|必须|需要先|为什么)|勝手に|言った(?:はず|のに)"
    "|tôi (?:đã )?(?:bảo|nói)|bạn (?:không|phải"
    "|đừng)",
)
# State that passes: what is so today.
_cue(
    "passing",
    r"currently|right now|at the moment|not yet|still (?:on|fail\w*|open|missing)",
    "hiện (?:chưa|đang|tại)|目前还|まだ.{0,10}(?:ない|ません)|現状|現時点",
)
# Whether it is so will be seen.
_cue(
    "prediction",
    r"should (?:now |then |be |work|pass)|next (?:ci )?run|will (?:now )?(?:work|pass)|try again"
    r"|(?:is|are) running",
    "はずです|应该就",
)

CAPITALS = re.compile(r"\b(?:NOT|NEVER|ALWAYS|MUST|ONLY|DO NOT|IMPORTANT)\b")


@lru_cache(4096)
def cues(text: str) -> frozenset[str]:
    """The names of the cues in a text."""
    return frozenset(_NAMES[index] for index in _SCREENS.found(text))


_RULES = frozenset(("lasting", "strong", "negation", "only"))


def without_rules(text: str) -> str:
    """A text without the words that make a rule of it: what the rule is about."""
    for index in _SCREENS.possible(text):
        if _NAMES[index] in _RULES:
            text = _SCREENS.compiled(index).sub(" ", text)
    return text
