"""Forges: what gh and glab only read."""

FORGE_READ_OPTIONS = (
    "-R= --repo= --json= -q= --jq= -t= --template= -L= --limit= -s= --state= -l= --label= --author= -A="
    " --assignee= -a= --search= -S= --base= -B= --head= -H= --comments -c --patch --name-only --color= --log"
    " --log-failed --verbose -v --exit-status --branch= -b= --workflow= --status= --user= --event= -e= -u="
    " --required --watch --fail-fast --interval= -i= --job= -j= --attempt= --mention= --milestone= -m= --order= --sort="
    " --owner= --language= --topic= --visibility= --archived --fork --source --created= --updated= --draft -d --match="
    " --hostname= --active --all --paginate --slurp --compact --undo=false --pretty="
    " --page= --per-page= -P= -p= --mine --closed --merged --opened"
)

FORGE_READS = """
gh pr view        | | -
gh pr list        | |
gh pr diff        | | -*
gh pr checks      | | -
gh pr status      | |
gh run view       | | -
gh run list       | |
gh run watch      | | -
gh issue view     | | -
gh issue list     | |
gh issue status   | |
gh repo view      | | -
gh repo list      | | -
gh release view   | | -
gh release list   | |
gh workflow view  | | -
gh workflow list  | |
gh label list     | |
gh search code    | | -*
gh search issues  | | -*
gh search prs     | | -*
gh search repos   | | -*
gh search commits | | -*
gh auth status    | |
gh status         | |
gh gist view      | | -
gh gist list      | |
gh cache list     | |
gh ruleset list   | |
gh project list   | |
gh project view   | | -
gh project item-list | | -
gh secret list    | |
gh variable list  | |
glab mr view      | | -
glab mr list      | |
glab mr diff      | | -
glab issue view   | | -
glab issue list   | |
glab ci view      | | -
glab ci list      | |
glab ci status    | |
glab ci trace     | | -
glab pipeline list | |
glab repo view    | | -
glab release view | | -
glab release list | |
glab auth status  | |
"""
