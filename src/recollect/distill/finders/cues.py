"""Words that tell what a sentence is: a wish that lasts, a complaint, a trap, a cause, a decision.

Nine languages, pooled: a cue counts the same in any of them. What is sought is form, not
subject. A cue that most people use for a moment's task ("only this page") is kept apart
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
    r"|after (?:each|every)|before (?:each|every|any|you (?:commit|push|merge|change|edit|do|make|start any))|at all times|one at a time"
    r"|(?:as (?:the )?|by )default|without (?:asking|permission|explicit)|unless i"
    r"|i(?:'d| would) (?:rather|prefer)|i prefer|ask me|i will (?:do|run|create|check)"
    r"|stop \w+ing|remember (?:to|that)|remember:|note that|stick to"
    r"|should (?:remain|stay|always|never)",
    "今後|以後|必ず|常に(?!.{0,12}(?:わけ|とは|限ら))|毎回|勝手に|ないこと|廃止|以后|每次|始终|一律|别再|不再|不要再|务必|记住"
    "|luôn|không được|đừng|mỗi khi|từ giờ|항상|하지 ?마|앞으로|всегда|никогда|отныне",
)
# A rule, of the task perhaps.
_cue(
    "strong",
    r"(?:do not|don'?t|dont)(?! (?:\w+ )?(?:need|have|know|think|care|see|want to be))|no need (?:to|for)|make sure (?:you|to|that)|must(?: not|n't)?|not allowed|forbidden|unless|instead of|rather than"
    r"|should(?: not|n't| also)|prefer|avoid|only (?:use|change|fix|edit|do|update|when|if)"
    r"|without changing|no (?:fallback|mock|docker|new|more)\w*|keep \w+ing|stay",
    "禁止|不要|必须|しないで|ではなく|のみ|だけに|べき|すること|(?:英語|日本語|中文|英文)(?:で|に|回答|回复)"
    "|(?<![级个特类区分性识辨告])别|暂时|只(?:登记|需|能|要|用)|先.{0,15}再|要更新|不使用|没有意义|不应该|不得|统一"
    "|chỉ (?:lưu|gọi|call|khi|delete|lấy|cần|chạy)|(?:^|\\s)bỏ |mới (?:call|search|gọi)"
    "|ko cần|không cần|thay vì|(?<!ko )(?<!không )phải|금지|해야|не надо|не нужно|нельзя|должен|только",
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
    r"why (?:did|do|are|is|does)|you (?:didn'?t|did not|forgot|missed|broke|removed|keep)|again|still"
    r"|wrong|not what|i (?:told|said|asked|noticed|already)|stop|nope|revert|undo|not working|broken"
    r"|it (?:doesn'?t|does not|isn'?t|didn'?t)|useless|hate|dislike|annoy\w*|confus\w*"
    r"|too (?:much|many|long|complex)",
    "为什么|没有按|没按|又|还是|不对|不是|错了|重复|遗漏|感觉|没有意义|看不懂"
    "|なぜ|まだ|違|じゃなく|おかしい|のに|ダメ|だめ|sao |vẫn|không phải|chưa|sai|왜|почему|опять|неправильно",
)
_cue(
    "language",
    r"(?:in|use|answer|reply|respond|write|speak) (?:in )?(?:english|japanese|chinese|vietnamese"
    r"|korean|russian|german|french|spanish|portuguese)",
    "中文|英文|日本語|英語|tiếng (?:việt|anh)|한국어|по-русски",
)
_cue(
    "trap",
    r"the (?:real |actual |underlying )?(?:issue|problem|root cause|reason|culprit) (?:is|was)"
    r"|root cause|caused by|(?:is )?blocked by|only (?:accepts?|works?|runs?|supports?|allows?|reads?)"
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
    r"|block(?:s|ed)|(?:not |un)available|requir\w+|needs?|only works?|must be|limit(?:s|ed)?|unless"
    r"|otherwise|no longer|missing|not (?:found|installed|reachable|set|exist)|reject\w*|refus\w*"
    r"|conflict\w*|timeout|break(?:s|ing)?|broken|hang(?:s)?|crash(?:es|ed)?|denied",
    "无法|不能|不支持|失败|限制|否则|没有|缺少|报错|被拦截|拒绝|できない|できません|失敗|必要|制限|未対応|落ち[るた]"
    "|ないと|エラー|ブロック|không thể|lỗi|thất bại|cần |thiếu|chặn|못|불가|нельзя|не работает|ошибк",
)
_cue(
    "decision",
    r"decid\w+|we(?:'ll)? (?:use|keep|go)|chos\w+|instead of|rather than|by default|defaults?"
    r"|priorit\w+|drop(?:ped)?|deprecat\w+|moved? (?:to|into)|policy|convention|by design"
    r"|single source|canonical|source of truth|no longer|strategy|architecture|mvp|scope",
    "决定|采用|改用|默认|优先|规则|方案|暂停|不再|统一|定为|方針|採用|決定|既定|優先|廃止|ルール|分離|に統一"
    "|quyết định|ưu tiên|mặc định|thay vì|quy tắc|nghiệp vụ|결정|기본|решен|по умолчанию",
)
_cue(
    "environment",
    r"install(?:ed)?|versions?|ports?|localhost|sandbox|network|permissions?|docker|windows|linux|macos"
    r"|ubuntu|node ?\d*|python ?\d*|env(?:ironment)?|api[_ ]?key|shell|powershell|git bash|zsh|vm"
    r"|container|ci|server|proxy|database|venv|worktree",
    "安装|版本|端口|环境|网络|权限|编码|インストール|バージョン|ポート|環境|ネットワーク|権限|サーバ"
    "|cài|phiên bản|cổng|môi trường|quyền",
)
_cue(
    "open",
    r"next (?:step|up|is|are|:)|remaining|to-?do|not yet|pending|left to|later|follow-?up|unfinished"
    r"|outstanding|still (?:need|to|fail|open)\w*|blocked on|waiting|placeholder"
    r"|not (?:implemented|tested|verified|run|committed)",
    "下一步|待办|还没|未完成|尚未|剩余|接下来|次の|残り|未実施|未確認|これから|tiếp theo|còn lại|chưa"
    "|남은|다음|дальше|осталось",
)
_cue(
    "place",
    r"located|lives? (?:in|at|under)|(?:is|are) in|under|directory|folder|path|repo(?:sitory)?"
    r"|sibling|submodule|root",
    "位于|目录|路径|仓库|配下|にあ[りる]|ディレクトリ|パス|フォルダ|nằm ở|thư mục|đường dẫn|폴더|каталог",
)
_cue(
    "run",
    r"run|start|launch|execute|build|test|reload|restart|rebuild|reinstall",
    "运行|启动|执行|重启|実行|起動|ビルド|再起動|chạy|khởi động|실행|запуст",
)
_cue(
    "narration",
    r"i'll|let me|i'm going to|i will now|now let",
    r"^(?:i|i'm|i've|i will|i am|let's|now i|first,? i|next,? i|okay|ok|sure|great|perfect|excellent"
    r"|good|alright|got it|you'?re (?:absolutely )?right|thanks|sorry|hello|hi)\b",
    "让我|我来|我将|我先|我会|现在我|^好的|^明白|これから|確認します|進めます|実施します|見ます。"
    "|します。$|(?:tôi|mình) (?:sẽ|đang|vừa)|để (?:tôi|mình)|제가|сейчас я",
)
_cue(
    "offer",
    r"if you(?:'d)? (?:want|like|prefer|need|later)|let me know|would you like|shall i|should i"
    r"|want me to|happy to|i can (?:also|add|help|do|next)|we can|you can (?:then|also|now)"
    r"|do you want|say the word|just (?:tell|ask)|which (?:one|would)|your (?:preference|call)",
    "如果你|需要我|要不要|是否需要|你可以告诉|请告诉|必要なら|ご希望|よろしければ|ご指示|教えてください"
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
    "可能|也许|建议|大概|かも|と思|おそらく|推奨|có thể|có lẽ|nên xem|возможно",
)
_cue(
    "negation",
    r"not|no|never|don'?t|without|none|nothing|cannot|can'?t|isn'?t|doesn'?t|won'?t|didn'?t|avoid",
    "不|没|无|别|禁止|ない|ません|không|chưa|đừng|ko |안 |못|не |нет",
)
_cue(
    "imperative",
    r"please",
    r"^(?:use|run|add|make|do|don'?t|keep|ensure|set|check|fix|update|create|remove|move|avoid|start"
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
    r"thanks?|thank you|great|perfect|excellent|awesome|congrat\w*|nice|cool|good (?:job|work|question)"
    r"|hello|production[- ]ready|rock[- ]solid",
    "谢谢|很好|ありがとう|cảm ơn",
)
# What wants an answer, not a change.
_cue(
    "question",
    r"what|how|can you|could you|do you|is (?:there|it)|are there|where|who|which|explain|show me|let me know",
    r"[?？]\s*$|吗|有没有|\bcó .{2,70} (?:ko|không|chưa)\W*$|呢[。？]?$|什么|怎么|哪|教えて|説明して|ですか|でしょうか|ますか|nhỉ|gì|cách nào|thế nào|chưa$|vậy$|tại sao|무엇|어떻게",
)
# What is to be done now.
_cue(
    "request",
    r"help me|i need you|for me|i(?:'d| would) (?:\w+ )?like (?:to|your|you|some)|yes,? please|allow for|lastly|let'?s",
    r"^(?:please )?(?:add|fix|implement|create|update|make|write|change|remove|delete|refactor|build|run|push|commit"
    r"|find|check|look|see|read|review|generate|set up|move|rename|execute|continue|proceed)\b",
    "^(?:thêm|sửa|kiểm tra|xem|tạo|viết|gộp|cập nhật|update|giờ|ok |check)|cho tôi|giúp tôi|帮我|给我|我想|请(?:先|查|阅)|搜索"
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
    r"why (?:did|do|are) you|you (?:didn'?t|did not|forgot|missed|broke|removed|keep|never|should|must|don'?t|always)"
    r"|i (?:already )?(?:told|said|asked) (?:you)?|not what i (?:asked|said|wanted|meant)|without (?:asking|my)|your (?:job|role|work)"
    r"|you(?:'re| are) not \w+ing|(?:are|were) you even|instead of (?:you|your)",
    "没按|感觉你|你(?:没|不|又|应该|必须|需要先|为什么)|勝手に|言った(?:はず|のに)|tôi (?:đã )?(?:bảo|nói)|bạn (?:không|phải|đừng)",
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
    return frozenset(
        _NAMES[index]
        for index in _SCREENS.possible(text)
        if _pattern(index).search(text) is not None
    )


@lru_cache(64)
def _pattern(index: int) -> re.Pattern[str]:
    return re.compile(_SCREENS.patterns[index], _SCREENS.flags)


def without_rules(text: str) -> str:
    """A text without the words that make a rule of it: what the rule is about."""
    for name in ("lasting", "strong", "negation", "only"):
        text = _pattern(_NAMES.index(name)).sub(" ", text)
    return text
