"""The words in which people judge work, as patterns over a sentence in lower case with plain apostrophes.

English first, with the commonest phrases of German, French, Spanish and
Chinese. A line is one manner of saying it; when one turns out to mean
something else as well, it goes.
"""

from __future__ import annotations

import re

from recollect.reading.screened import Screened


def _any(text: str) -> Screened:
    """A pattern of one alternative per line; `_` stands for a space."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return Screened("|".join(f"(?:{line.replace('_', ' ')})" for line in lines))


_THING = r"(?:it|that|this|which|everything|all|fix|change|patch|version|one|part|script|build|page|app|login|tests?|button|search|export)"
_OPENING = r"^(?:(?:ok(?:ay)?|yes|yep|yeah|ah|oh|wow|and|so|now|then|finally|great|nice|good|cool|perfect|thanks?|thank_you|confirmed)[,.:!_]+)*"
_END = r"(?=[.!,;]|$)"
_HOW = r"(?:now|great|fine|well|again|perfectly|properly|flawlessly|beautifully|for_me|as_expected|like_a_charm|on_my)\b"
_WELL = rf"(?:{_END}|_{_HOW}|_thanks?\b|_thank_you\b|_but\b|:)"
_GOOD = r"(?:good|great|right|correct|fine|perfect|nice|amazing|awesome|lovely|excellent|better)"

# That the work is right. Beside a complaint, it is the part that is.
STATES = _any(rf"""
    \b{_THING}_(?:(?:all|now|finally|does|indeed|fix|change|part|seems?_to)_)*(?:works?|worked|is_working|are_working){_WELL}
    {_OPENING}(?:works?|worked|working){_END}
    \b(?:works|worked|working|(?:they|both|all|tests)_work)_{_HOW}
    ^\w+(?:_\w+)?_works{_END}
    \b(?:that|this|it)_(?:did_it|did_the_trick|does_the_trick|did_the_job|was_it|fixed_it|fixes_it|solved_it|sorted_it|helped){_END}
    \bdoes_the_job\b
    \b(?:error|bug|issue|problem|warning|crash|flicker|leak|mismatch)s?_(?:is|are|has|have)_(?:now_)?(?:gone|fixed|solved|resolved)\b
    {_OPENING}(?:that'?s|it'?s|this_is|all|issue|problem)?_?(?:all_)?(?:fixed|solved|resolved|sorted|gone)(?:_now|_everywhere)?{_END}
    \bno_(?:more_)?(?:errors?|crash(?:es)?|warnings?|failures?)(?:_any_?more|_now)?{_END}
    \b(?:doesn'?t|don'?t|does_not|no_longer)_(?:fail|crash|happen|break|hang|flicker)s?(?:_any_?more)?{_END}
    \b(?:can_confirm|confirmed|verified)\b
    \blooks?_(?:so_|much_|way_|really_|very_|all_)?{_GOOD}\b|\b(?:is|are)_(?:now_)?(?:right|correct|perfect|fine)(?:_now)?{_END}
    \bare_(?:right|correct|fine|good)_now\b
    \b(?:ci|build|pipeline|tests?|suite|checks?|everything)_(?:is|are|went|came_back)?_?(?:all_)?(?:green|passing|pass(?:es|ed)?)(?:_now|_again)?{_END}
    \b(?:lgtm|ship_it|approved|all_good|all_green)\b
    \b(?:exactly|just)_(?:what|like|how)_(?:i|that)(?:_wanted|_needed|_meant)?
    \b(?:i'?m_)?happy_with\b
    \b(?:i|we)(?:'ve|_have|_just)?_(?:merged|committed|deployed|shipped|released)_(?:it|this|that|the)\b
    ^(?:\w+[,!]?_)?(?:merged|committed|deployed|shipped)_?(?:it|this|that)?{_END}
    \b(?:that|this)_(?:explains|answers)\b|\bmakes_sense_now\b|\bgot_it,?_thanks|\b(?:really|very|super)_helpful\b
    \bthat'?s_(?:right|correct|it|much_better|better|perfect|great|exactly)\b
    \bi_can_(?:connect|log_in|see_it|open_it|run_it)(?:_now)?{_END}
    \b(?:ran|tested|tried|checked)_(?:it|this)\b.*\b(?:good|fine|works|ok)\b
    {_OPENING}(?:(?:please|let'?s|you_can|go_ahead_and)_)*(?:get_(?:this|it)_)?(?:commit|merge|ship|push)(?:ted|ped|ed)?(?:_(?:it|this|that|these|everything|all|(?:the|your)_(?:changes?|work)))*(?:_please)?(?:{_END}|_and_)
    {_OPENING}(?:(?:please|sorry)[.,]?_)*(?:push_up_and_)?(?:open|make|create|raise|send)_(?:a|the)_(?:pr|pull_request|mr|merge_request)\b
    \b(?:funktioniert|klappt|geht|läuft)_(?:jetzt|nun|wieder|super|prima|perfekt|einwandfrei)\b
    ^(?:(?:super|ja|danke|ok|perfekt)[,!_]+)?(?:es_|das_)?(?:funktioniert|klappt|läuft|passt)(?:_so)?{_END}
    \bsieht_(?:gut|super|perfekt|richtig)_aus\b
    \b(?:ça|cela|tout)_(?:marche|fonctionne)(?!_pas|_toujours)
    ^(?:merci[,_]+)?c'est_(?:bon|parfait|réglé|corrigé){_END}
    ^(?:(?:ya|ahora|sí|perfecto|genial)[,_]+)*funciona(?:_(?:bien|perfecto|perfectamente|ahora|genial))?{_END}
    \b(?:ya|ahora)_(?:está|quedó)_(?:bien|arreglado|listo|resuelto)\b
    可以了|没问题|解决了|搞定|通过了|正常了|好了(?:[，。！,]|$)|能用了
""")
# Praise of whatever; a complaint beside it makes it irony.
PRAISES = _any(r"""
    ^(?:(?:ok(?:ay)?|yes|yep|ah|oh|wow|lol|thanks?|thank_you|merci|danke|gracias)[,.!_]+)*(?:(?:that'?s|it'?s|this_is|very|really|so|good|all)_)*(?:perfect|perfecto|great|excellent|awesome|amazing|fantastic|brilliant|wonderful|beautiful|lovely|superb|nice|neat|sweet|good|love_it|well_done|impressive|exactly|bravo|super|perfekt|klasse|prima|genial|parfait|nickel|excelente)(?:_(?:job|work|one|stuff|indeed|now|enough|thanks?|thank_you))*(?=[,.!;:]|$|_(?:thanks?|thank_you|can_you|could_you|please|let'?s|next|now)\b)
    ^(?:完美|太好了|很好|太棒了)
""")  # fmt: skip
# Said of a plan or a wish, praise asks for the work instead of accepting it.
OF_PLANS = _any(r"""
    \b(?:idea|plan|approach|proposal|point|catch|question|suggestion|option|thinking|luck|start)\b
    ^(?:ok_|okay_|yes_)?sounds?_
    \b(?:go_ahead(?!_and_(?:commit|merge|push|ship))|go_for_it|proceed|do_(?:it|that|so)|implement|begin|continue|carry_on)\b
    \b(?:would|could|might|should|if|hope|hopefully|let_me_know|make_sure|until|once|so_that|whether|assuming|needs?_to|as_each|when|after|before|whatever|in_case)\b
""")
COMPLAINS = _any(rf"""
    \bstill_(?:(?:very|really|just|completely|always)_)?(?:not|no|an?|the|in|on|at|there|here|red|wrong|broken|missing|empty|slow|nothing|stuck|bad|off|too|blocked|old|happening|failing|getting|seeing|having|showing)\b
    \bstill_(?:doesn'?t|does_not|don'?t|isn'?t|aren'?t|can'?t|cannot|won'?t|hasn'?t|haven'?t|didn'?t)\b
    \bstill_(?:fails?|gets?|sees?|says?|shows?|hangs?|throws?|returns?|crash(?:es)?|happens?|errors?|leaks?|complains?|flickers?|overlaps?|jumps?|breaks?|times?_out|seems?_to|appears?_to)\b
    \b(?:ci|build|badge|tests?|suite)_(?:seems?_to_)?still\b
    \bsame_(?:error|problem|issue|result|thing|failure|crash|output|message|behaviou?r)\b|^same{_END}
    (?:n't|\b(?:dont|doesnt|isnt|didnt|wont|cant|not|never|cannot))_(?:\w+_){{0,2}}?(?:work|works|working|help|helped|compile|build|run|start|load|pass|render|fix|fixed|change_anything|match|open|show|reconnect|exist|answer|answered)\b
    n't_(?:look|seem|feel)_(?:right|good|correct)\b|\b(?:doesn't|doesnt)_seem_to\b
    \b(?:it|that|this|which|build|ci|tests?|page|app|login|script|server|suite|one)_(?:(?:just|now|also|immediately|always|again|whole)_)*(?:fails|failed|crash(?:es|ed)|breaks|broke|hangs|errors_out|exits_immediately|got_worse|is_(?:failing|broken|blank|empty|red|worse|slower))\b
    \b(?:even|much)_(?:worse|slower)\b
    \b(?:you|your_\w+|something|that|this|it)_(?:(?:just|have|has|also)_)*(?:broke|broken|wrecked|ruined|messed_up|screwed_up)\b
    \b(?:that'?s|this_is|it'?s|is|are|was|looks?)_(?:(?:still|completely|totally|plain|just|all|plainly)_)*(?:wrong|incorrect|broken|bogus|nonsense|garbage|worse|useless|not_(?:right|correct|good|it|what|how|done|quite|true|helpful|fixed))\b
    ^(?:wrong|broken|incorrect)\b
    ^not_(?:for|in|on|when|with|quite|the)\b|\bnot_what_i\b|\bisn'?t_(?:what_i|done|right|correct)\b
    \bi_(?:asked|said|told_you|meant|specifically)\b|\b(?:as|like)_i_said\b
    ^(?:no|nope|nah|uh_no|non|nein)(?:[,.!]|$|_(?:i|it|that|the|this|you|we)\b)(?!_(?:need|problem|worries|rush))
    \byou_(?:(?:just|also|still|even)_)*(?:forgot|missed|ignored|skipped|removed|deleted|dropped|misunderstood|haven'?t|didn'?t|did_not|left_out|overwrote|hardcoded|made_up|invented|changed_the)\b
    \b(?:another|new|more)_(?:error|failure|exception|crash|traceback|problem|mismatch)(?:s|es)?\b
    \bnow_(?:i|we)_(?:get|see|(?:am|are)_getting)\b|^now_(?:it'?s?|there'?s|nothing|nobody|my)\b|^now_the_\w+(?:_\w+)?_(?:is|are|was|were|overlaps?|fails?|breaks?|errors?|doesn'?t|don'?t|won'?t|can'?t)\b|\bnow_nobody\b
    \b(?:i|we)(?:'m|_am|_are)?_(?:now_)?(?:get|got|getting|see|seeing)_(?:an?_|the_|this_|a_lot_of_)?(?:\w+_)?(?:error|exception|traceback|failure|crash)s?\b
    \b(?:no_luck|no_change|no_difference|no_effect|nothing_(?:happens|happened|changed|was|works)|makes_no_difference|regression|we_lost|lost_the|oh_no|no_window)\b
    \b(?:almost|close|nearly|better|progress),?_but\b
    \b(?:is|are)_(?:missing|duplicated|overlapping|misaligned|unreadable|truncated|cut_off|gone_again)\b
    ^(?:it'?s|its)_(?:at|in|on|too|only|just|completely|way)_
    \b(?:red|failing|broken|wrong)_again\b
    \bseems?_(?:that_)?.*\b(?:not|still|never|keeps?|cannot)\b
    \b(?:funktioniert|klappt|geht|läuft|passt|stimmt)_(?:(?:immer|noch|leider|so|auch)_)*nicht\b|\bimmer_noch\b|\bist_(?:falsch|kaputt)\b|^leider\b
    \b(?:marche|fonctionne)_(?:toujours_)?pas\b|\btoujours_(?:pas|la_même|le_même|une_erreur|cassé|rouge)\b|\bc'est_(?:faux|cassé|pas_ça|pas_bon)\b
    \b(?:no|sin)_(?:funciona\w*|sirve|compila\w*|pasa)\b|\b(?:sigue|todavía|aún)_(?:fallando|igual|con_el|falla|roto|sin|mal)\b|\bestá_(?:mal|roto)\b
    不行|不对|还是(?:不|报错|有|没|失败|一样|乱)|错了|没有?用|没(?:有)?生效|又报错|不能用|失败了
""")
# After a statement that it works: where it does not.
BUT = re.compile(
    r"\b(?:works?|worked|working|good|great|right|fine|done|fixed|perfect)\b.*\b(?:but|except|however|although|though)\b"
    r"(?! (?:can|could|let|now let|please|thanks|i'd|would|also|next|first))"
)
REPROACHES = _any(r"""
    \bwhy_(?:did|are|have|would)_you\b|\bwhy_is_(?:it|this|that)_still\b|\bdid_you_even\b|\bwhere_did_you_get_that\b
""")
REFUSES = _any(r"""
    \b(?:revert|undo|roll_?back|discard|scrap|back_out)(?:$|[.!]|,?_(?:it|this|that|them|everything|all|your|the|these|those|now|please)\b)
    \b(?:i|we)(?:'ve|_have|_just)?_(?:reverted|undid|undone|rolled_back|removed|discarded|threw_away|deleted)_(?:your|that|this|it|the|all|everything)\b
    \bput_(?:it|everything|that|this)_back\b
    ^(?:(?:ok(?:ay)?|ah|hmm+|ugh|actually|you_know_what|no|fine|wait|please|just|let'?s)[,.!_]+)*(?:never_?mind|forget_(?:it|about_it|that|this)|drop_(?:it|this)|leave_it|cancel(?:_(?:that|this|it))?|scratch_that|skip_(?:it|this)|abandon_(?:it|this)|stop(?:_(?:it|that|this|here|now|please))?|abort)(?:[,.!_]|$)
    \bi(?:'ll|_will|'m_going_to)(?:_just)?_(?:do|fix|write|handle)_(?:it|this|that)_(?:myself|by_hand|manually)\b|\b(?:did|fixed|wrote)_it_myself\b
    \bdon'?t_(?:do_(?:that|this|it)|bother)\b|\bwe_(?:don'?t|won'?t)_(?:need|want|do)_(?:this|that|it)\b|\bnot_worth_it\b
    \b(?:i|we)(?:'ve)?_(?:changed_(?:my|our)_mind|decided_against)\b
    \b(?:rückgängig|vergiss_es|lass_es)\b|\b(?:annule|laisse_tomber|oublie_ça)\b|\b(?:deshaz|olvídalo|déjalo|revierte)\b
    撤销|回滚|还原|算了|不用了|别改了
""")  # fmt: skip
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
FOLLOWS = _any(r"""
    ^(?:also|and|but|then|plus|oh|ah|yes|ok(?:ay)?|sure|no|same|use|do|don'?t|instead|rather|why|it|that|this|they|these|those|which|commit|push|run|rerun|try|explain|show_me)\b
    ^now_(?:run|fix|also|test|commit|do_the_same|it|the|try)\b
    ^(?:what|how)_about\b|^(?:make|remove|rename|put|move)_(?:it|that|this|these|them)\b
    ^(?:is|are|can|could|should|would|did|does|do|has|have|was|will)_(?:it|that|this|they|these|those|you|we_also)\b
    \b(?:above|earlier|as_well|instead|again|your)\b|\byou_(?:just|wrote|added|changed|made|did|said|mentioned|suggested)\b
    \bthe_(?:same|other_one|rest|second|remaining)\b|\b(?:these|those)\b
""")
# Takes it back, and asks for another try.
ANOTHER_WAY = _any(r"""
    \b(?:instead|rather|another_way)\b|\b(?:and|then|but)_(?:use|try|do|make|add|write|keep|only)\b
""")
TAKES_BACK = _any(r"""
    \b(?:revert\w*|undo|undid|undone|roll\w*_?back|discard\w*|scrap|back_out|put_(?:it|everything|that|this)_back|threw_away)\b
    rückgängig|annule|deshaz|revierte|撤销|回滚|还原
""")
