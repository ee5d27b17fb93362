"""Tools that agents work with beside git: issue trackers in the repository, panes of other agents, recorders."""

TRACKER_OPTIONS = (
    "--json --long --short --pretty --tree --all -a --verbose -v --quiet -q --readonly --no-daemon --no-color --sandbox"
    " -n= --limit= -s= --status= -t= --type= -p= --priority= --assignee= -l= --label= --labels= --sort= --reverse -r"
    " --format= --title= --id= --since= --by-status --by-priority --by-type --by-assignee --by-label --deps= --parent="
    " -d= --description= --desc= --notes= --design= --acceptance= --append-notes= --reason= --claim --body= --estimate="
    " --add-label= --remove-label= --external-ref= --dry-run --children --refs --updated-after= --created-after= --title-contains="
    " --desc-contains= --body-file: --design-file: -f: --file: --silent --mine --unassigned --set-metadata= --unset-metadata= --metadata= --spec-id= --due= --defer= --stdin"
)

# The files of the tracker lie in the repository, and what they held stays in their history.
TRACKERS = """
bd show     | | -*
bd list     | | -*
bd ready    | |
bd blocked  | |
bd status   | |
bd stats    | |
bd stale    | |
bd count    | |
bd search   | | -*
bd info     | |
bd where    | |
bd children | | -*
bd graph    | | -*
bd context  | |
bd dep cycles | |
bd dep tree | | -*
bd dep list | | -*
bd dep add  | | -*
bd dep remove | | -*
bd label list | | -*
bd label add | | -*
bd label remove | | -*
bd comments | | -
bd comments list | | -*
bd comments add | | -*
bd comment  | | -*
bd note     | | -*
bd create   | | -*
bd q        | | -*
bd update   | | -*
bd close    | | -*
bd reopen   | | -*
bd epic status | | -*
bd dolt status | |
bd dolt show | |
bd dolt log | | -*
bd dolt commit | -m= --message= |
bd prime    | |
bd lint     | | -*
bd doctor   | |
entire hooks | | -*
"""

TRACKER_DISCARDS = """
bd delete   | --force !--cascade | -*
bd prune    | --older-than= --pattern= !--force | -*
bd purge    | --older-than= --pattern= !--force | -*
bd compact  | | -*
"""

TRACKER_SENDS = """
bd sync     | -m= --message= --no-pull --no-push |
bd dolt push | |
bd dolt pull | |
"""

LOOKS = """
workmux status | --json -v | -*
workmux list | --json --pr -v | -*
workmux capture | -n= --lines= | -
workmux path | | -
workmux wait | --timeout= --status= --any | -*
entire status | --detailed --json --no-pager |
entire version | |
entire explain | --commit= -c= --session= -s= --checkpoint= --short --full --no-pager --json --raw-transcript --search-all --limit= | -*
entire doctor | |
entire rewind --list | |
entire configure list | |
bun pm ls   | --all -a -g |
bun pm bin  | -g |
bun pm hash | |
entire session current | --json |
entire session list | --json --limit= |
entire session show | --json --full | -
entire auth status | |
entire checkpoint list | --json --limit= |
tmux ls     | -F= |
tmux list-sessions | -F= |
tmux list-windows | -a -t= -F= |
tmux list-panes | -+as -t= -F= |
tmux has-session | -t= |
tmux display-message | -+p -t= | -
tmux capture-pane | -+peJ -t= -S= -E= |
"""

PANES = """
workmux add | -b -a= -p= -P< --base= --background --prompt= --prompt-file< --name= | -*
workmux send | -P< -f< --file< --prompt-file< --submit --submit-existing | -*
workmux open | -n | -*
workmux close | | -*
workmux remove | -k --keep-branch !-f !--force | -*
workmux merge | --rebase --squash --keep | -*
tmux send-keys | -t= -l | -*
tmux load-buffer | -b= -t= | f
tmux set-buffer | -b= -t= -a -n= | -
tmux paste-buffer | -+dpr -b= -t= -s= |
tmux new-window | -d -t= -n= -c: |
tmux new-session | -d -s= -n= -c: |
tmux kill-window | -t= |
"""
