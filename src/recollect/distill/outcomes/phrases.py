"""The words in which people judge work, as patterns over a sentence in
lower case with plain apostrophes.

English first, with the commonest phrases of German, French, Spanish, Portuguese,
Russian, Chinese and Japanese. A line is one manner of saying it; when one turns out
to mean something else as well, it goes.
"""

from __future__ import annotations

from recollect.reading.screened import Screened, Screens

# A sentence is looked through for all of them at once; for those that only say more
# of what was found, when something was.
SCREENS, ASIDE = Screens(), Screens()


def _any(text: str, screens: Screens = SCREENS) -> Screened:
    """A pattern of one alternative per line; `_` stands for a space."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return screens.add("|".join(f"(?:{line.replace('_', ' ')})" for line in lines))


def may_be_in(sentence: str) -> bool:
    """Whether any of the phrases may be in a sentence."""
    return bool(SCREENS.possible(sentence))


_THING = (
    r"(?:it|that|this|which|everything|all|fix|change|patch|version|one|part|script|build|page"
    r"|app|login|tests?|button|search"
    r"|export)"
)
_OPENING = (
    r"^(?:(?:ok(?:ay)?|yes|yep|yeah|ah+|oh|wow|and|so|now|then|first|finally|great|nice|good|cool"
    r"|perfect|thanks?|thank_you|cheers"
    r"|thx|ty|yay|sweet|awesome|agreed?|confirmed)[,.:!_]+)*"
)
_END = r"(?=[.!,;]|$)"
_HOW = (
    r"(?:now|great|fine|well|again|perfectly|properly|flawlessly|beautifully|for_me|as_expected"
    r"|like_a_charm|on_my)\b"
)
_WELL = rf"(?:{_END}|_{_HOW}|_thanks?\b|_thank_you\b|_but\b|:)"
_GOOD = r"(?:good|great|right|correct|fine|perfect|nice|amazing|awesome|lovely|excellent|better)"

_WORKS = (
    r"(?:work|works|working|help|helped|compile|build|run|start|load|pass|render|fix|fixed"
    r"|change_anything|match|open|show|reconnect"
    r"|exist|answer|answered|updated|included|visible|saved|aligned|implemented|applied)"
)
_FAILS = (
    r"(?:fails?|failed|crash(?:es|ed)?|breaks|broke|hangs?|errors_out|exits?_immediately|got_worse"
    r"|is_(?:failing|broken|blank|empty|red|worse|slower))"
)
_BAD = (
    r"(?:(?:still|completely|totally|plain|just|all|plainly)_)*(?:wrong|incorrect|broken|bogus"
    r"|nonsense|garbage|worse|useless"
    r"|outdated|false|misleading|not_(?:right|correct|good|it|what|how|done|quite|true|helpful"
    r"|fixed|usable|useful|acceptable|enough|convinced))\b"
)

# That the work is right. Beside a complaint, it is the part that is.
STATES = _any(rf"""
    \b{_THING}_(?:(?:all|now|finally|does|indeed|fix|change|part|seems?_to)_)*(?:works?|worked|is_working|are_working){_WELL}
    {_OPENING}(?:works?|worked|working|compiles|builds|runs|starts|loads|passes|installs){_END}
    \b(?:works|worked|working|(?:they|both|all|tests)_work)_{_HOW}
    {_OPENING}\w+(?:_\w+)?_works{_END}|{_OPENING}(?:so_)?much_(?:better|nicer|cleaner)\b
    \b(?:that|this|it)(?:_one|_flag|_command|_change|_fix)?_(?:did_it|did_the_trick|does_the_trick|did_the_job|was_it|fixed_it|fixes_it|solved_it|sorted_it|helped){_END}
    \b(?:reads|looks|runs|works|plays|scales)_(?:really_|very_|so_)?(?:well|nicely|better)\b|\ball_(?:\w+ed|good|fine|there|set)_now{_END}
    \b(?:site|server|service|region|pod|host|it|everything|all|both)s?_(?:\w+_)?(?:(?:is|are)_)?up(?:_again|_now)?{_END}
    \bdoes_the_job\b|\bnailed_it\b|\b(?:up|back|running|working)_(?:and_running|again)\b|^(?:it_)?(?:starts|runs|loads|builds|opens|connects|compiles|installs)_(?:now|again|fine){_END}|^fixed_(?:on|in|for|with)\b|\b\w+_(?:builds?|works?|runs?|pass(?:es)?|loads?|starts?)_again{_END}
    \bnot_(?:a_single|one)_(?:\w+_)?(?:error|failure|crash|duplicate|warning|problem|miss|flicker)\w*\b|\bzero_(?:errors|failures|warnings|crashes)\b
    \b(?:error|bug|issue|problem|warning|crash|flicker|leak|mismatch)s?_(?:is|are|has|have)_(?:now_)?(?:gone|fixed|solved|resolved)\b
    {_OPENING}(?:that'?s|it'?s|this_is|all|issue|problem)?_?(?:all_)?(?:fixed|solved|resolved|sorted|gone)(?:_now|_everywhere)?{_END}
    \bis_(?:now_)?(?:fixed|solved|resolved)(?:_now)?{_END}|{_OPENING}there_we_go\b|\b(?:went|gone)_green\b
    \b(?:is|are|went|dropped)_(?:now_)?down_(?:from|to)_\S*\d|{_OPENING}(?:much|way)_faster(?:_now)?{_END}
    \bno_(?:more_)?(?:errors?|crash(?:es)?|warnings?|failures?)(?:_any_?more|_now)?{_END}
    \b(?:doesn'?t|don'?t|does_not|no_longer)_(?:fail|crash|happen|break|hang|flicker)s?(?:_any_?more)?{_END}
    \b(?:can_confirm|confirmed|verified)\b
    \blooks?_(?:so_|much_|way_|really_|very_|all_)?{_GOOD}\b|\b(?:is|are)_(?:now_)?(?:(?:right|correct|perfect|fine|ok(?:ay)?)(?:_now)?(?:{_END}|_but\b)|(?:good|great|excellent),?_(?:but|the)\b)
    \bare_(?:right|correct|fine|good)_now\b
    \b(?:ci|build|pipeline|tests?|suite|checks?|everything)_(?:is|are|went|came_back)?_?(?:all_)?(?:green|passing|pass(?:es|ed)?)(?:_now|_again)?{_END}
    \b(?:lgtm|ship_it|approved|all_good|all_green)\b
    \b(?:exactly|just)_(?:what|like|how)_(?:i|that)(?:_wanted|_needed|_meant)?
    \b(?:i'?m_)?happy_with\b|\b(?:i'?m|we'?re|(?:customer|client|team|boss|everyone|they)_(?:is|are|was|were))_(?:(?:very|really|quite|super)_)?(?:happy|pleased|satisfied){_END}|\bthanks_for_the_(?:quick_)?fix\b
    \b(?:i|we)(?:'ve|_have|_just)?_(?:merged|committed|deployed|shipped|released)_(?:it|this|that|the)\b
    ^(?:\w+[,!]?_)?(?:merged|committed|deployed|shipped)_?(?:it|this|that)?{_END}
    \b(?:that|this)_(?:explains|answers)\b|\bmakes_sense_now\b|\bgot_it,?_thanks|\b(?:really|very|super)_helpful\b
    \bthat'?s_(?:right|correct|it|much_better|better|perfect|great|exactly)\b
    \bi_can_(?:connect|log_in|see_it|open_it|run_it)(?:_now)?{_END}
    \b(?:ran|tested|tried|checked)_(?:it|this)\b.*\b(?:good|fine|works|ok)\b
    {_OPENING}(?:(?:please|let'?s|you_can|go_ahead_and)_)*(?:get_(?:this|it)_)?(?:commit|merge|ship|push|merging|committing|pushing|shipping)(?:ted|ped|ed)?(?:_(?:it|this|that|these|everything|all|(?:the|your)_(?:changes?|work)))*(?:_please)?(?:{_END}|_and_)
    {_OPENING}(?:(?:please|sorry)[.,]?_)*(?:push_up_and_)?(?:open|make|create|raise|send)_(?:a|the)_(?:pr|pull_request|mr|merge_request)\b
    \b(?:funktioniert|klappt|geht|läuft)_(?:jetzt|nun|wieder|super|prima|perfekt|einwandfrei)\b
    ^(?:(?:super|ja|danke|ok|perfekt)[,!_]+)?(?:es_|das_)?(?:funktioniert|klappt|läuft|passt)(?:_so)?{_END}
    ^(?!mach|kannst|könntest|bitte|jetzt)\w+_.*\bjetzt\b.*,_danke\b|^ya_\w+[,.]?_(?:muchas_)?gracias\b
    \bdas_war(?:'?s|_es)\b|^stimmt[,.!]|^(?:perfetto|ottimo)\b|(?<!non_)\bfunziona\b
    \bsieht_(?:gut|super|perfekt|richtig)_aus\b
    \b(?:ça|cela|tout)_(?:marche|fonctionne)(?!_pas|_toujours)
    ^(?:merci[,_]+)?c'est_(?:bon|parfait|réglé|corrigé){_END}
    ^(?:(?:ya|ahora|sí|perfecto|genial)[,_]+)*funciona(?:_(?:bien|perfecto|perfectamente|ahora|genial))?{_END}
    \b(?:ya|ahora)_(?:está|quedó)_(?:bien|arreglado|listo|resuelto)\b
    \b(?:agora_sim|funcionou|está_funcionando|deu_certo)\b|^agora_funciona{_END}
    (?<!не_)\b(?:(?:всё|теперь|уже)_)(?:работает|исправлено|заработало)\b|\bзаработало\b|^работает{_END}
    可以了|没问题|解决了|搞定|通过了|正常了|好了(?:[，。！,]|$)|能用了
    直りました|直った|動きました|動いた|できました|ばっちり|うまくいきました|問題ありません
""")
# Praise of whatever; a complaint beside it makes it irony.
PRAISES = _any(r"""
    ^(?:(?:ok(?:ay)?|yes|yep|ah|oh|wow|lol|thanks?|thank_you|merci|danke|gracias)[,.!_]+)*(?:(?:that'?s|it'?s|this_is|very|really|so|good|all)_)*(?:perfect|perfecto|great|excellent|awesome|amazing|fantastic|brilliant|wonderful|beautiful|lovely|superb|nice|neat|sweet|good|love_it|well_done|impressive|exactly|bravo|super|perfekt|klasse|prima|genial|parfait|nickel|excelente)(?:_(?:job|work|one|stuff|explanation|answer|summary|indeed|now|enough|thanks?|thank_you))*(?=[,.!;:]|$|_(?:thanks?|thank_you|can_you|could_you|please|let'?s|next|now)\b)
    ,_(?:nice|perfect|love_it|awesome|great|excellent|lovely|brilliant)[.!]*$|\bi_(?:really_)?(?:like|love)_(?:it|this|that)[,.!]
    ^finally[.!]*$|^spot_on\b|^bingo\b|^(?:(?:ah|ok)[,_]+)?got_it[,.!]|^(?:\w+[,.]?_){0,2}(?:that|it)_makes_sense[.!]*$
    ^(?:完美|太好了|太棒了)|很好|快多了
""")  # fmt: skip
# Said of a plan or a wish, praise asks for the work instead of accepting it.
OF_PLANS = _any(
    r"""
    \b(?:idea|plan|approach|proposal|point|catch|question|suggestion|option|thinking|luck|start)\b
    ^(?:ok_|okay_|yes_)?sounds?_
    \b(?:go_ahead(?!_and_(?:commit|merge|push|ship))|go_for_it|proceed|do_(?:it|that|so)|implement|begin|continue|carry_on)\b
    \b(?:would|could|might|should|if|hope|hopefully|let_me_know|make_sure|until|once|so_that|whether|assuming|needs?_to|as_each|when|after|before|whatever|in_case)\b
""",
    ASIDE,
)
COMPLAINS = _any(rf"""
    \bstill_(?:(?:very|really|just|completely|always)_)?(?:not|no|an?|the|in|on|at|there|here|red|wrong|broken|missing|empty|slow|nothing|stuck|bad|off|too|blocked|old|happening|failing|getting|seeing|having|showing)\b
    \bstill_(?:doesn'?t|does_not|don'?t|isn'?t|aren'?t|can'?t|cannot|won'?t|hasn'?t|haven'?t|didn'?t)\b
    \bstill_(?:fails?|gets?|sees?|says?|shows?|hangs?|throws?|returns?|crash(?:es)?|happens?|errors?|leaks?|complains?|flickers?|overlaps?|jumps?|breaks?|times?_out|seems?_to|appears?_to|comes?|prints?|displays?|opens|sends?|contains?)\b
    \b(?:ci|build|badge|tests?|suite)_(?:seems?_to_)?still\b
    \bsame_(?:error|problem|issue|result|thing|failure|crash|output|message|behaviou?r)\b|^same{_END}
    (?:^|\b(?:it|that|this|they|these|those|which|nothing|now|and|but|still|also)_(?:just_|really_|simply_)?)(?:\w+n't|dont|doesnt|isnt|didnt|wont|cant|not|never|cannot|(?:do|does|did|is|are|was|will|can|could)_not)_(?:\w+_){{0,2}}?{_WORKS}\b
    \b(?:does|did|do)_nothing\b|\b(?:don'?t|do_not|didn'?t)_like\b|^(?:ugh|argh|oh|hmm+)[,_]+no(?:pe)?\b
    n't_(?:look|seem|feel)_(?!like|that)\w+\b|n't_(?:do|change|make|have)_(?:anything|a_thing|any_difference|any_effect|much)\b|\byou_\w+ed_.*!!|(?<!i_)(?<!we_)\bstill_needs?_(?:a|an|some|to_be|manual)\b
    \b(?:doesn't|doesnt)_seem_to\b
    \b(?:it|that|this|which|they|both|one)_(?:(?:just|now|also|immediately|always|again|whole|both|all)_)*{_FAILS}\b
    \b(?:even|much)_(?:worse|slower)\b
    \b(?:you|your_\w+|something|that|this|it)_(?:(?:just|have|has|also)_)*(?:broke|broken|wrecked|ruined|messed_up|screwed_up)\b
    \b(?:that'?s|this_is|it'?s|they'?re|it_(?:is|was|looks)|still)_{_BAD}
    \b(?:that|this|it)(?:'?s|_is)_not_(?!bad|needed|necessary|urgent|important|an?_(?:problem|issue)|in_scope|your_fault)\w+
    ^(?:(?:also|again|still|both)_)?(?:wrong|broken|incorrect)\b|\bneeds?_(?:some_|more_|a_bit_of_)?work\b
    ^not_(?:for|in|on|when|with|quite|the)\b|\bnot_what_i\b|\bisn'?t_(?:what_i|done|right|correct)\b
    \bi_(?:(?:explicitly|clearly|specifically|only|just|already)_)?(?:asked|said|told_you|meant)\b|\bi_specifically\b|\bi_(?:was|am)_talking_about\b|\bi_only_(?:get|see|have)\b|\bno_such_\w+|^meh\b|\bi_only_wanted\b|\b(?:as|like)_i_said\b
    ^(?:no|nope|nah|uh_no|non|nein|nö)(?:[,.!]|$|_(?:i|it|that|the|this|you|we)\b)(?!_(?:need|problem|worries|rush))
    \byou_(?:(?:just|also|still|even)_)*(?:forgot|missed|ignored|skipped|removed|deleted|dropped|misunderstood|haven'?t|didn'?t|did_not|left_out|overwrote|hardcoded|made_up|invented|changed_the)\b
    \b(?:another|new|more)_(?:error|failure|exception|crash|traceback|problem|mismatch)(?:s|es)?\b
    \bnow_(?:i|we)_(?:get|see|(?:am|are)_getting)\b|^now_(?:it'?s?|there'?s|nothing|nobody|my)\b|^now_the_\w+(?:_\w+)?_(?:is|are|was|were|overlaps?|fails?|breaks?|errors?|doesn'?t|don'?t|won'?t|can'?t)\b|\bnow_nobody\b
    \b(?:did_?n'?t|did_not|never|don'?t|do_not|can_?n[o']t)_(?:ever_)?(?:see|saw|find)_(?:any_of_)?(?:the|any|a|an|it|them|those|that|your)\b
    \bthat'?s_(?:just_)?a_guess\b|\bmak(?:e|ing)_(?:things|stuff|it|that)_up\b|\bthanks_for_nothing\b|\bmade_(?:it|that)_up\b
    \b(?:no_luck|no_change|no_difference|no_effect|nothing_(?:happens|happened|changed|was|works)|makes_no_difference|regression|we_lost|lost_the|oh_no|no_window)\b|^(?:hmm+[,.]?_|and_|but_)?nothing_(?:is|shows?|appears|comes|gets|opens|loads)\b
    \b(?:almost|close|nearly|better|progress),?_but\b
    ^(?:it'?s|its)_(?:at|in|on|too|only|just|completely|way)_
    \b(?:red|failing|broken|wrong)_again\b
    \b(?:funktioniert|klappt|geht|läuft|passt|stimmt)_(?:(?:immer|noch|leider|so|auch)_)*nicht\b|\bimmer_noch\b|\bist_(?:falsch|kaputt)\b|\bleider\b|\bda_(?:sind|ist|steht|kommt)_(?:kein\w*|nichts)\b
    \b(?:marche|fonctionne)_(?:toujours_)?pas\b|\bencore_(?:à|là|cassé|rouge|vide|faux)\b|\bnon_funziona\b|\btoujours_(?:pas|la_même|le_même|une_erreur|cassé|rouge)\b|\bc'est_(?:faux|cassé|pas_ça|pas_bon)\b
    \bnão_(?:funciona|funcionou|está_funcionando)\b|\b(?:continua|ainda)_(?:sem|com|não|dando|quebrado|errado|o_mesmo)\b|\bestá_(?:errado|quebrado)\b
    \bне_(?:работает|помогло|запускается|компилируется|помогает)\b|\bвсё_(?:ещё|равно)\b|\bпо-прежнему\b|\bта_же_ошибка\b
    \b(?:no|sin)_(?:funciona\w*|sirve|compila\w*|pasa|sale|aparece|carga|muestra|hace_nada)\b|\b(?:sigue|todavía|aún)_(?:fallando|igual|con_el|falla|roto|sin|mal)\b|\bestá_(?:mal|roto)\b
    不行|不对|还是(?:不|报错|有|没|失败|一样|乱)|错了|没有?用|没(?:有)?生效|又报错|不能用|失败了
    動きません|動かない|直っていません|直ってない|まだ(?:エラー|直|動|同じ)|違います|変わりません
""")
# That something is wrong, by itself no more than a report of it: of this work, or
# of another thing that is to be mended.
REPORTS = _any(rf"""
    (?:n't|\b(?:dont|doesnt|isnt|didnt|wont|cant|not|never|cannot))_(?:\w+_){{0,2}}?{_WORKS}\b
    \b(?:build|ci|tests?|page|app|login|script|server|suite|job|deploy|button)_(?:(?:just|now|also|immediately|always|again)_)*{_FAILS}\b
    \b(?:is|are|was|looks?)_{_BAD}
    \b(?:i|we)(?:'m|_am|_are)?_(?:now_)?(?:get|got|getting|see|seeing)_(?:an?_|the_|this_|a_lot_of_)?(?:\w+_)?(?:error|exception|traceback|failure|crash)s?\b
    \b(?:throws?|raises?)_(?:an?_)?\w*(?:error|exception)\b|\b(?:has|have|got)_none\b|\b(?:is|are)_(?:missing|duplicated|overlapping|misaligned|unreadable|truncated|cut_off|gone_again)\b
    \b(?:is|are|went|goes)_down{_END}|\b(?:returns?|gives?|getting|gets?|throws?|see)_(?:an?_)?(?:404|5\d\d)\b|\b(?:blank|white|empty)_(?:page|screen|window|file|list)\b
    \bseems?_(?:that_)?.*\b(?:not|never|keeps?|cannot)\b|\bthere_(?:is|are|were|was)_no_(?:results?|output|response|effect|change)\b
""")
# After a statement that it works: where it does not.
BUT = SCREENS.add(
    r"\b(?:works?|worked|working|good|great|right|fine|done|fixed|perfect|(?:is|are|was) "
    r"ok(?:ay)?|the job)\b"
    r".*\b(?:but|except|however|although|though)\b"
    r"(?! (?:can|could|let|now let|please|thanks|i'd|would|also|next|first))"
    r"|\b(?:otherwise|other than that|apart from (?:that|this)|except for (?:that|this))\b"
    r".*\b(?:good|great|fine|perfect|works?|ok)\b"
    r"|\bthough(?=,|$)"
)
REPROACHES = _any(r"""
    \bwhy_(?:did|are|have|would)_you\b|\bwhy_is_(?:it|this|that)_still\b|\bdid_you_(?:even\b|\w+_(?:\w+_)*at_all\b)|\bwhere_did_you_get_that\b
""")
REFUSES = _any(r"""
    \b(?:revert|undo|roll_?back|discard|scrap|back_out)(?:$|[.!]|,?_(?:it|this|that|them|everything|all|your|the|these|those|now|please)\b)
    ^(?:i_|we_)?(?:had_to_)?roll(?:ed)?_back\b|\b\w+_(?:reverted|rolled_back)_(?:the|your|that|this|it|everything)\b
    \b(?:i|we)(?:'ve|_have|_just)?_(?:reverted|undid|undone|rolled_back|removed|discarded|threw_away|deleted)_(?:your|that|this|it|the|all|everything)\b
    \bback_to_(?:the_)?(?:old|previous|original)_(?:one|version|way|state|design|colou?rs?)\b|\b(?:put|roll|take)_(?:it|everything|that|this)_(?:back|out_again)\b|\bthrew_(?:it|that|this|everything)_away\b|\b(?:i|we)_closed_(?:the|your|that)_(?:pr|mr|pull)\b|\bdrop_(?:it|this)_for_now\b
    ^(?:(?:ok(?:ay)?|ah|oh|oops|sorry|wrong_\w+|hmm+|ugh|actually|you_know_what|no|fine|wait|please|just|let'?s)[,.!_]+)*(?:never_?mind\b|nvm\b|forget_(?:it|about_it|that|this)\b|drop_(?:it|this)\b|leave_it\b|scratch_that\b|ignore_(?:this|that|it|my_last)\b|skip_(?:it|this)\b|abandon_(?:it|this)\b|(?:cancel|stop|pause|abort)(?:_(?:it|that|this|here|now|please))*(?:[,.!]|$))
    \bi(?:'ll|_will|'m_going_to)(?:_just)?_(?:do|fix|write|handle|finish)_(?:it|this|that|the_rest)_(?:myself|by_hand|manually)\b|\bi(?:'ll|_will)_ask_(?!you)\w+(?:_\w+)?_to\b|\b(?:did|fixed|wrote)_it_myself\b|\bi(?:_give|'m_giving)_up\b|\bi(?:'ll|_will)(?:_just)?_(?:rewrite|redo)_(?:it|this|that)\b|\brestore_(?:the|a|from)_(?:\w+_)?backup\b
    \bdon'?t_(?:do_(?:that|this|it)|bother)\b|\bwe_(?:don'?t|won'?t)_(?:need|want|do)_(?:this|that|it)\b|\bnot_worth_it\b
    \b(?:i|we)(?:'ve)?_(?:changed_(?:my|our)_mind|decided_against)\b
    \b(?:rückgängig|vergiss_es|lass_es)\b|\b(?:annule|laisse_tomber|oublie_ça)\b|\b(?:deshaz|olvídalo|déjalo|revierte)\b
    撤销|回滚|还原|算了|不用了|别改了
""")  # fmt: skip
# That something is not wanted after all. Said of an offer, once something
# was done, it says nothing about that.
DECLINES = _any(r"""
    ^no_(?:thanks|thank_you)\b|\b(?:keep|leave)_(?:it|this|that|everything|things)_(?:as|the_way)\b|\bhold_off\b|\bpostpone\b|^not_(?:now|today|yet)\b|\blet'?s_(?:not|(?:stay|stick)_with)\b|\bnot_convinced\b|\bon_second_thought\b|\blet'?s_wait\b
    \btoo_(?:complicated|expensive|risky|much_(?:work|effort|trouble))\b
""")
FUMES = _any(r"""
    \b(?:wtf|wth|ffs|fgs|omfg|jfc|goddam\w*|damn_?it|dammit|bullshit|crap|shit\w*|fuck\w*|verdammt|scheiße|merde|putain|joder|mierda)\b
    \bfor_(?:god|fuck|christ|heaven)'?s?_?sake\b
    \bare_you_(?:kidding|serious|blind|even)\b|\bseriously\?|\bunbelievable\b
    \b(?:is|this_is|getting|being|really|so)_(?:really_|so_)?(?:annoying|frustrating|ridiculous|useless|terrible|awful)\b|\bwaste_of_(?:my_)?time\b|\bfed_up\b
    \bhow_many_times\b|\bi(?:'ve)?_(?:already|repeatedly)_(?:told|said|asked)\b|\b(?:third|fourth|fifth|tenth|hundredth)_time\b
    \byou_keep\b|\bstop_(?:guessing|lying|pretending|making|changing|touching)\b|\b(?:did|do)_you_even\b|\bi_suspect_you\b|\bnot_even_trying\b
    他妈|卧槽|什么鬼
""")
GOES_ON = _any(r"""
    ^(?:(?:ok(?:ay)?|k|y|yes|yep|yeah|ya|yup|sure|fine|alright|right|please|pls|thanks?|thank_you|thx|cool|go|go_on|go_ahead|go_for_it|continue|proceed|carry_on|keep_going|next|resume|retry|try_again|again|do_it|do_that|do_so|do_both|just_do_it|all_of_(?:it|them|the_above)|both|to_(?:all|both)|sounds_good|please_do|the_(?:first|second|third|last)(?:_one)?|option|[a-e]|\d{1,2}|ja|bitte|weiter|mach(?:_das|_weiter)?|genau|oui|vas-y|d'accord|sí|si|dale|claro|adelante|continúa|好的?|嗯|是的?|继续|可以|行|对)(?:[\s,.!]+|$))+(?:with_(?:it|that|this|all|the_next(?:_\w+)?))?[.!_]*$
""")  # fmt: skip
BEGINS = _any(r"""
    ^(?:(?:ok(?:ay)?|great|perfect|thanks?|thank_you|nice|good|cool|alright|so|and|merged_it)[,.!_]+)*(?:now|next)[,:]?_(?:let'?s|can|could|please|i'?d|i_want|i_need|we|add|make|write|update|create|implement|build|look|for|on_to|up|where|refactor|help|explain|task)\b
    \b(?:another|different|separate|new|unrelated|next)_(?:thing|task|topic|question|issue|feature|request|bug)\b
    \b(?:unrelated|separately|moving_on|on_another_note|switching_to|by_the_way|btw|one_more_thing)\b
    ^(?:andere_frage|neues_thema|als_nächstes|autre_(?:chose|question)|otra_(?:cosa|pregunta)|另外|接下来|下一个)
""")
# How a prompt begins, or what it says, that goes on with the topic before it.
FOLLOWS = _any(
    r"""
    ^(?:also|and|but|then|plus|oh|ah|yes|ok(?:ay)?|sure|no|same|use|do|don'?t|instead|rather|why|it|that|this|they|these|those|which|commit|push|run|rerun|try|explain|show_me)\b
    ^now_(?:run|fix|also|test|commit|do_the_same|it|the|try)\b
    ^you_(?:can|could|should|need_to)\b|^(?:what|how)_about\b|^(?:make|remove|rename|put|move)_(?:it|that|this|these|them)\b
    ^(?:is|are|can|could|should|would|did|does|do|has|have|was|will)_(?:it|that|this|they|these|those|you|we_also)\b
    \b(?:above|earlier|as_well|instead|again|your)\b|\byou_(?:just|wrote|added|changed|made|did|said|mentioned|suggested)\b
    \bthe_(?:same|other_one|rest|second|remaining)\b|\b(?:these|those)\b
""",
    ASIDE,
)
# Takes it back, and asks for another try.
ANOTHER_WAY = _any(
    r"""
    \b(?:instead|rather|another_way)\b|\b(?:and|then|but)_(?:use|try|do|make|add|write|keep|only)\b
""",
    ASIDE,
)
TAKES_BACK = _any(
    r"""
    \b(?:revert\w*|undo|undid|undone|roll\w*_?back|discard\w*|scrap|back_out|(?:put|roll|take)_(?:it|everything|that|this)_(?:back|out_again)|threw_(?:it_)?away|restore|back_to_(?:the_)?(?:old|previous|original)_(?:one|version|way|state|design|colou?rs?)|closed_(?:the|your|that)_(?:pr|mr|pull))\b
    rückgängig|annule|deshaz|revierte|撤销|回滚|还原
""",
    ASIDE,
)
