#!/bin/sh
# Runs recollect for a plugin, which cannot know where it is installed. A hook whose command is missing would put an error into
# every session, so without recollect the hooks are silent, except that a new session says what to do.
PATH="$PATH:$HOME/.local/bin" # where pipx and uv put commands, and programs started from a desktop do not look
command -v recollect >/dev/null 2>&1 && exec recollect "$@"

advice='the command recollect is not on the PATH, so this session has no memory: install it with `pip install .` in the repository that this plugin came from, or remove the plugin'
if [ "$1" != hook ]; then
    echo "$advice" >&2
    exit 127
fi
case "$3 $(cat)" in
"SessionStart "*'"source"'*'"startup"'*) printf '{"systemMessage":"%s"}\n' "recollect: $advice" ;;
esac
