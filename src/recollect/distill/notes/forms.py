"""The forms in which people state something that holds beyond the moment, and the
words that tie a sentence to the moment.

Each form came from looking at real prompts, and was narrowed until what it
found was worth keeping: most of what people tell an agent is about the task at
hand, even when it begins with "don't".
"""

from __future__ import annotations

import re

from recollect.model.notes import Category
from recollect.reading.screened import Screens

CERTAIN, LIKELY, POSSIBLE = 0.9, 0.8, 0.7


def _any(words: str) -> str:
    """One of some words; `_` stands for a space."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


def _sought(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_any(' '.join(words))}\b", re.IGNORECASE)


_WE = _any("we i you agents? the_agent")
_THE_PROJECT = _any(
    "project repo repository codebase code_base app application package team monorepo service"
)
_PROJECT = f"(?:this|the|our) {_THE_PROJECT}"
_SHOULD = _any("should must need_to have_to can will may")
_NO_REQUEST = _any(
    r"\w+ed \w+ing \w*[^s\W]s been had has was were did got seen knew an? the to in on mind heard "
    r"said saw be_able"
)
# A verb as it stands in a request: "run", not "runs", "ran" or "running".
_VERB = rf"(?!{_NO_REQUEST}\b)[a-z]\w+"
# What is asked for around each piece of work.
_ROUTINE = _any(
    "commit run update add write test check push create keep format lint ask confirm report "
    "document verify use make stop wait "
    "review build bump tag open show explain summari[sz]e include start refresh regenerate rebase "
    "save log note"
)
# What work is made of, whatever the task.
_STEP = _any(
    "commit change step task edit feature session turn push release phase story pr merge fix "
    "deploy(?:ment)?"
)
# What may be forbidden for good; the rest of what people forbid ("don't add …",
# "don't change …") is about the task.
_FORBIDDEN = _any(
    "use commit push hard[_-]?code mock install guess amend squash rebase force deploy publish "
    "store log print import "
    "rely_on depend_on bypass"
)
_CHANGE = _any("touch edit modify change delete remove rename move")
_LASTING_THING = _any(
    r"(?:the_)?(?:main|master|production|prod|migrations?|generated|vendor\w*|lock_?files?|schema|database)"
)
_CODE_THING = _any(
    "tests? commits? functions? methods? class(?:es)? modules? endpoints? routes? prs? files? code "
    "changes queries migrations? "
    "strings? docs? comments? scripts?"
)
_USE = _any("use run write call import install choose pick go_with stick_to stick_with")
_DECIDE = _any(
    "decided chose chosen agreed picked went use go stick keep switch move settled adopt"
)
_REASON = _any("because since so_that this_way due_to in_order_to as_it instead_of rather_than")
_HAVE = _any(
    "use uses are_using support supports require requires don't_use do_not_use doesn't_use"
)
_BE_MADE = _any("written built deployed hosted licensed managed")
_BE_PLACED = _any("in at under on called named written hosted deployed kept")
_SURE = (
    rf"(?:we |(?:{_WE} {_SHOULD}|make sure (?:to|that)?(?: ?{_WE})?(?: {_SHOULD})?|be sure to) )?"
)
_OFTEN = _any(
    "strongly really generally much usually always explicitly definitely only currently mainly "
    "exclusively now"
)
_FROM_NOW_ON = _any(
    "from_now_on from_here_on going_forward from_this_point_on as_a_(?:general_)?rule at_all_times"
)
_DONT = r"(?:don.?t|do not)"
_DISLIKE = rf"(?:{_DONT} {_any('like want use allow accept support')}|hate|dislike)"
_LET_US = _any("let'?s we we'll we_will we_should we've i've i'll")
_NOT = r"(?:\b(?:instead of|rather than|and not|over)|, not)"
_ROUND_OFF = _any("commit push merg releas deploy publish refactor")
_SETTLE = _any("deploys?_to deploys?_with runs?_on targets? follows? stick_to standardi[sz]e_on")

# What is stated, of which category it is and how sure that is; the surest first.
_WRITTEN: list[tuple[str, Category, float]] = [
    # "always run the tests", "you must never push to main"
    (rf"{_SURE}always {_VERB}", "preference", CERTAIN),
    (rf"{_SURE}never {_VERB}", "constraint", CERTAIN),
    (r"[\w `./-]{1,80} (?:must|should|may) (?:always|never) \w+", "constraint", CERTAIN),
    # "from now on, …", "each time you …"
    (rf"(?:.{{1,120}}[ ,])?(?<!plan ){_FROM_NOW_ON}\b|in (?:the )?future,? {_VERB}", "preference",
    CERTAIN),
    (r"(?:every|each) time (?:you|we|i)\b|whenever (?:you|we|i) \w+", "preference", LIKELY),
    # "commit after each step", "before every push run the linter", "when you commit, …"
    (rf"{_ROUTINE}\b.{{0,100}} (?:after|before|for|on|with|as|at) (?:each|every) (?:\w+ "
     rf"){{0,2}}{_STEP}\b", "preference", LIKELY),
    (rf"(?:after|before|on) (?:each|every) (?:\w+ ){{0,2}}{_STEP}\b", "preference", LIKELY),
    (rf"(?:before|after|when) (?:you )?{_ROUND_OFF}\w*\b.{{4,}}", "preference", POSSIBLE),
    # "I prefer …", "we don't want hard-coded paths"
    (rf"(?:i|we)(?:'d| would)? (?:{_OFTEN} )?(?:prefer|rather)\b|prefer \w+|my preference is",
    "preference", CERTAIN),
    (rf"(?:i|we) (?:{_OFTEN} )?{_DISLIKE} (?!(?:the|an?|any|to|you)\b)(?:[\w-]+ ){{0,3}}[\w-]+s\b",
    "preference", LIKELY),
    # "we decided on X because …", "let's use X instead of Y"
    (rf"{_LET_US} (?:just |all )?{_DECIDE}\b.{{3,160}}\b{_REASON}\b", "decision", LIKELY),
    # "use X instead of Y"
    (rf"(?:{_WE} (?:{_SHOULD} )?)?{_USE} (?!(?:the|an?)\b).{{2,100}}{_NOT}\b \S+",
     "preference", LIKELY),
    # "we use X", "the project targets Y", "our tests live in …"
    (rf"(?:we|i|{_PROJECT}) (?:{_OFTEN} )?(?:{_HAVE} (?!(?:the|an?|to|for)\b)|is {_BE_MADE}\b"
     rf"|{_SETTLE}\b)", "project", LIKELY),
    (rf"our [\w -]{{2,40}} (?:uses?|lives?|runs?|must|(?:is|are) {_BE_PLACED})\b", "project",
    LIKELY),
    (r"[\w./`-]+(?: [\w./`-]+){0,5} (?:lives?|(?:is|are) located|belongs?) "
     r"(?:in|under|at|inside)\b", "project", LIKELY),
    # "all public functions must …"
    (rf"(?:all|every|each|any|no|only)\b.{{2,80}}\bmust \w+ \S|(?:all|every|each|any|no) (?:\w+ "
     rf")?{_CODE_THING}\b.{{1,60}}"
     r"\b(?:should|has to|have to|needs? to)\b", "constraint", LIKELY),
    (r"[\w`./-]+(?: [\w`./-]+){0,7} (?:must not|mustn't|must never|must only|must always)\b",
    "constraint", LIKELY),
    # "don't hard-code paths", "avoid global state"
    (rf"{_DONT} (?:{_FORBIDDEN}\b(?!.*\bthe\b)|{_CHANGE} {_LASTING_THING})", "constraint",
    POSSIBLE),
    (r"(?:stop \w+ing|(?:avoid|no more) (?!(?:the|an?|unnecessary)\b)(?:\w+ing|[\w-]+s|[\w-]+ "
     r"[\w-]+s?))\b(?!.*\bthe\b)",
     "constraint", POSSIBLE),
]  # fmt: skip
SCREENS = Screens(re.IGNORECASE)
FORMS = [(SCREENS.add(f"^(?:{pattern})"), category, sure) for pattern, category, sure in _WRITTEN]


# Whoever was not there does not know what these stand for.
POINTING = _sought(
    "it its it's this that these those them they they're their he she him her here there above "
    "below following aforementioned",
    "same again anymore any_more another others? such former latter now currently today yet still "
    "already instead right_away",
    "next_time",
    r"(?:issues?|items?|lines?|number|pr|chunk|step|phase|point|part|option)_#?\d+ option_[a-z]",
    "the_(?:first|second|third|last|next|previous)",
    "the_(?:issues?|bugs?|problems?|errors?|changes?|fix|plan|files?|scripts?|button|page|fixture|image|list|prompt)",
    "the_(?:results?|output|question|ticket|task|feature|branch|pr|function|method|class|model|code)",
)
NUMBERED = re.compile(r"#\d+|\(\d+\)")
# …where they stand for nothing, or for what every session here knows.
NOT_POINTING = _sought(
    "(?:so|make_sure|ensure|remember|note|means?|such|given|assume|require|know)_that such_as "
    "instead_of each_other",
    "this_(?:project|repo|repository|codebase|code_base|app|application|package|monorepo|way|machine|workspace) there_(?:is|are)",
    "that_(?:is|are|can|have|has|use|uses|do|does|will|need|needs) "
    "(?:because|since|as|when|if|unless|and|which)_it from_now_on",
    r"(?:all|every|each|any|no)_(?:\w+_)?(?:files?|scripts?|functions?|methods?|class(?:es)?|changes?|tasks?|pages?|errors?|features?)",
)
# Reports, wonderings and what an agent says about itself state no rule.
REPORTING = _sought(
    "i_(?:think|guess|wonder|believe|was|am|got|get|see|saw|noticed|tried|need_you|still|can't|cannot|don't_(?:know|see))",
    "i.m i.d_love kept seems? looks?_like appears? maybe perhaps might not_sure as_an_ai why",
    "if_you'd_like let_me_know is_there are_there",
    r"(?:can|could|would|do)_you should_(?:i|we) keeps?_\w+ing (?:doesn't|does_not)_work",
    "didn't isn't_working failed fails failing for_now right_now at_the_moment this_time "
    "for_example temporarily just_now later",
)
# What leads into a sentence.
_LEADS = _any(
    "okay ok yes yeah yep sure great good perfect nice thanks thank_you cool no nope hmm+ also and "
    "but so then well oh btw "
    "by_the_way please pls actually again alright right now firstly first secondly second finally "
    "lastly next note man fyi "
    "important in_addition additionally however one_more_thing one_thing remember_to remember_that "
    "remember"
)
LEAD = re.compile(rf"(?:{_LEADS}\b[\s,.:;!—-]*)+(?=\w|`)", re.IGNORECASE)
