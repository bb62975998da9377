"""What sort of tool a name stands for, and what a call of it was about.

Agents name the same few tools in their own ways. A name is compared without
its case and without what joins its words, so `read_file`, `ReadFile` and
`read-file` are one. An adapter that knows better says so before it asks here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from recollect.model.logs import ToolKind

_NAMES: dict[ToolKind, str] = {
    "shell": """
        bash shell sh zsh powershell pwsh cmd terminal exec execute run command runcommand
        executecommand execcommand
        runterminalcommand runterminalcmd runinterminal runshellcommand shellcommand runbash
        executebash terminalcommand
        developershell developer__shell bashoutput writestdin readbash writebash stopbash killshell
        killbash
        getterminaloutput readterminaloutput sendcommandinput taskoutput runcommands runipython
        executeipythoncell
        runtests runtask createandruntask runtest executebashcommand localshell containerexec
    """,
    "edit": """
        edit editfile editfiles editor write writefile writetofile createfile create newfile
        multiedit multieditfile
        strreplace strreplaceeditor strreplacebasededittool searchreplace searchandreplace replace
        replaceinfile
        replacestringinfile multireplacestringinfile inserteditintofile insertcontent insert patch
        applypatch applydiff
        applyedit editnotebook editnotebookfile notebookedit deletefile delete remove removefile
        undoedit texteditor
        texteditorstrreplace texteditorwrite developertexteditor fileedit filewrite filecreate
        codeaction reapply renamefile
        movefile writefiles createdirectory makedir createdir editedexistingfile newfilecreated
        appenddiff edited
        strreplacefile singlefindandreplace editexistingfile createnewfile multieditcode writecode
        propose_code proposecode
    """,
    "read": """
        read readfile readfiles readmanyfiles view viewfile viewimage cat open openfile getfile
        fileread ls list listdir
        listdirectory listfiles listfilestoplevel listfilesrecursive viewcodeitem viewfileoutline
        notebookread
        getnotebooksummary readlints geterrors readcurrentlyopenfile readfilerange viewdiff
        readnotebookcelloutput getchangedfiles tree readmediafile readimage viewcontentchunk
        readlines lookat
        listcodedefinitionnames getprojectsetupinfo
    """,
    "search": """
        grep greps grepsearch search searchfiles searchfilecontent filesearch searchfile glob
        globfiles globsearch find
        findbyname findfiles findfile ripgrep rg semanticsearch codebasesearch codesearch
        searchcode searchcodebase
        textsearch toolsearch listcodeusages searchsymbols sourcegraph findtext
        searchworkspacesymbols testsearch
        fetchrules searchmemory memorysearch globfilesearch finder codebasesearchagent
        findreferences
        xsearchlocal searchhistory listcodereferences
    """,
    "web": """
        webfetch websearch fetch fetchurl fetchwebpage fetchwebcontent browse browser browseraction
        browseinteractive
        googlewebsearch readurl readurlcontent searchweb websearchcall xsearch urlfetch webscrape
        geturl readwebpage
        openwebpage browsernavigate browserclick agenticfetch opensimplebrowser openbrowserurl
        viewwebdocumentcontentchunk
        download httprequest webbrowser builtinfetch curl
    """,
    "task": """
        task agent subagent spawnagent dispatchagent newtask runsubagent delegate delegatetoagent
        oracle librarian
        dynamictaskcreatetask subtask spawnsubagent agentrun invokeagent parallelagent createtask
        codebaseinvestigator
        readagent waitagent sendagent codeagent usesubagents executesubtask agentswarm
    """,
}
_KINDS: dict[str, ToolKind] = {
    re.sub(r"[\W_]", "", name): kind for kind, names in _NAMES.items() for name in names.split()
}

# Where the thing a call is about stands in its input, by kind, first found first.
_PATHS = (
    "file_path", "filePath", "path", "target_file", "targetFile", "absolute_path", "absolutePath",
    "AbsolutePath", "TargetFile", "filename", "fileName", "file", "filepath", "target_notebook",
    "notebook_path", "relative_workspace_path", "relativeWorkspacePath", "effectiveUri", "uri",
    "dir_path", "dirPath", "directory", "DirectoryPath", "directory_path", "target_directory",
    "targetDirectory", "folder", "paths",
)  # fmt: skip
_QUERIES = (
    "pattern", "query", "Query", "regex", "glob", "glob_pattern", "globPattern", "search",
    "symbol", "Pattern", "q",
)  # fmt: skip
_TARGETS: dict[ToolKind, tuple[str, ...]] = {
    "shell": (
        "command", "cmd", "CommandLine", "commandLine", "script", "code", "input", "commands",
        "chars", "task",
    ),
    "edit": _PATHS,
    "read": _PATHS,
    "search": (*_QUERIES, *_PATHS),
    "web": ("url", "Url", "uri", "query", "search_term", "searchTerm", "urls", "prompt", "queries"),
    "task": ("description", "title", "prompt", "task", "message", "subagent_type", "name"),
    "mcp": ("command", *_PATHS, "url", *_QUERIES, "name"),
    "other": (*_PATHS, "command", *_QUERIES, "url", "name", "title", "question"),
}  # fmt: skip
_PREFIXES = re.compile(
    r"^(?:functions?[.:]|default_api[.:]|builtin_?|developer__|computercontroller__|tool[._:]|vscode_)"
)
_MCP = re.compile(r"^mcp[_.:-]|__mcp|_mcp_|^user-[\w-]+-\w")
_LARGEST_TARGET = 4_000


@lru_cache(1024)
def kind_of(name: str) -> ToolKind:
    """The sort of tool a name stands for."""
    known = _KINDS.get(_plain(name)) or _KINDS.get(_plain(_PREFIXES.sub("", name)))
    if known is not None:
        return known
    # A server's name, two underscores, a tool's: how most hosts pass on what an MCP server offers.
    return "mcp" if _MCP.search(name) or "__" in name.strip("_") else "other"


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def target_of(kind: ToolKind, arguments: Any) -> str | None:
    """The command, path, pattern or address that a call is about."""
    if isinstance(arguments, str):
        return arguments[:_LARGEST_TARGET] or None
    if not isinstance(arguments, dict):
        return None
    for name in _TARGETS[kind]:
        target = _target(arguments.get(name))
        if target:
            return target
    return None


def _target(value: object) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return " ".join(value)
    if isinstance(value, dict):
        path = value.get("fsPath") or value.get("path")
        return path if isinstance(path, str) and path else None
    return None
