"""Options of git's subcommands that neither run a program nor choose one."""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.shell.options import Spec, spec

DIFFING = (
    "-purszwbaRWq -U= -M? -C? -B? -X? -l= -S= -G= --output=w --patch --no-patch --raw --unified= --minimal "
    "--patience --histogram --diff-algorithm= --stat? --numstat --shortstat --dirstat? --summary "
    "--name-only --name-status --compact-summary --submodule? --color? --no-color --color-moved? "
    "--word-diff? --word-diff-regex= --no-renames --find-renames? --find-copies? --check --full-index "
    "--binary --abbrev? --diff-filter= --pickaxe-regex --relative? --text --ignore-space-at-eol "
    "--ignore-cr-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context= "
    "--function-context --exit-code --quiet --no-ext-diff --no-textconv --src-prefix= --dst-prefix= "
    "--no-prefix --cached --staged --merge-base --no-index --cc --combined-all-paths --patch-with-stat "
    "--no-relative --root -mct"
)
LOGGING = (
    DIFFING + " -n= -L= -gEiF --max-count= --skip= --since= --after= --until= --before= --since-as-filter= "
    "--author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp "
    "--fixed-strings --perl-regexp --oneline --graph --decorate? --no-decorate --all --branches? --tags? "
    "--remotes? --glob= --exclude= --merges --no-merges --first-parent --follow --reverse --format= "
    "--pretty? --abbrev-commit --no-abbrev-commit --date= --topo-order --date-order --author-date-order "
    "--left-right --left-only --right-only --cherry --cherry-pick --cherry-mark --walk-reflogs --no-walk? "
    "--source --full-history --simplify-merges --ancestry-path? --boundary --count --parents --children "
    "--notes? --no-notes --show-pulls --dense --sparse --relative-date --min-parents= --max-parents= "
    "--log-size"
)

LISTED = (
    "--list -l --sort= --format= --column? --contains= --no-contains= --merged? --no-merged? --points-at="
)

READING: Mapping[str, Spec] = {
    "status": spec(
        "-sbzv -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --no-renames "
        "--ahead-behind --no-ahead-behind --show-stash --column? --find-renames? --ignore-submodules?"
    ),
    "diff": spec(DIFFING, marks="digits"),
    "diff-tree": spec(DIFFING + " --stdin --no-commit-id -v --always --pretty? --format="),
    "diff-index": spec(DIFFING),
    "diff-files": spec(DIFFING),
    "log": spec(LOGGING, marks="digits"),
    "whatchanged": spec(LOGGING, marks="digits"),
    "show": spec(LOGGING, marks="digits"),
    "rev-list": spec(LOGGING + " --objects --disk-usage? --timestamp --header", marks="digits"),
    "reflog": spec(LOGGING, marks="digits"),
    "shortlog": spec(LOGGING + " -nse -w? --numbered --summary --email --group=", marks="digits"),
    "cherry": spec("-v --abbrev?"),
    "range-diff": spec(DIFFING),
    "branch": spec("-arvq --all --remotes --verbose --show-current --abbrev= --no-abbrev --color? " + LISTED),
    "tag": spec("-n? --color? " + LISTED, marks="digits"),
    "rev-parse": spec(
        "-q --abbrev-ref? --verify --short? --symbolic --symbolic-full-name --show-toplevel --show-prefix "
        "--show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree "
        "--is-bare-repository --is-inside-git-dir --all --branches? --tags? --remotes? --quiet --not "
        "--default= --show-superproject-working-tree --is-shallow-repository --path-format= --revs-only "
        "--no-revs --flags --no-flags"
    ),
    "ls-files": spec(
        "-cdmoiskuvtz -x= -X=r --cached --deleted --modified --others --ignored --stage --killed --unmerged "
        "--exclude= --exclude-from=r --exclude-standard --error-unmatch --full-name --abbrev? --eol "
        "--directory --no-empty-directory --deduplicate --recurse-submodules --format= --with-tree="
    ),
    "ls-tree": spec(
        "-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?"
    ),
    "blame": spec(
        "-bcefklnpstw -L= -M? -C? -S=r --root --show-stats --porcelain --line-porcelain --date= "
        "--color-lines --color-by-age --abbrev= --incremental --reverse --first-parent --show-email"
    ),
    "annotate": spec("-bcefklnpstw -L= -M? -C? --porcelain --date="),
    "describe": spec(
        "--all --tags --always --long --dirty? --broken? --contains --abbrev= --exact-match "
        "--match= --exclude= --candidates= --first-parent"
    ),
    "grep": spec(
        "-aiIwvhHEGPFnlLzocprqW -A= -B= -C= -e= -f=r -m= --cached --no-index --untracked --text "
        "--ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp "
        "--perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only "
        "--files-without-match --null --only-matching --count --color? --no-color --break --heading "
        "--show-function --function-context --max-depth= --max-count= --threads= --and --or --not "
        "--all-match --quiet --recursive --no-recursive --exclude-standard --no-exclude-standard "
        "--after-context= --before-context= --context=",
        marks="digits",
    ),
    "cat-file": spec("-tspe --batch-check? --batch-all-objects --unordered --buffer"),
    "merge-base": spec("-a --all --octopus --independent --is-ancestor --fork-point"),
    "apply": spec("-v -p= --check --stat --numstat --summary --verbose --directory="),
    "name-rev": spec("--tags --refs= --exclude= --all --name-only --always"),
    "for-each-ref": spec(
        "--count= --sort= --format= --color? --points-at= --merged? --no-merged? --contains? "
        "--no-contains? --exclude= --ignore-case",
        "-*",
    ),
    "show-ref": spec(
        "-dqs --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet", "-*"
    ),
    "show-branch": spec(
        "-arg --all --remotes --list --no-name --sha1-name --topics --topo-order --current", "-*"
    ),
    "count-objects": spec("-vH --verbose --human-readable", ""),
    "check-ignore": spec("-qvzn --quiet --verbose --stdin --non-matching --no-index"),
    "check-attr": spec("-az --all --stdin --cached"),
    "symbolic-ref": spec("-q --short --quiet", "-*"),
    "var": spec("-l", "-*"),
    "version": spec("--build-options", ""),
    "remote": spec("-vn --verbose --all --push", "-*"),
    "stash": spec(LOGGING + " --include-untracked --only-untracked", marks="digits"),
    "worktree": spec("-vz --verbose --porcelain", "-*"),
    "submodule": spec("-q --quiet --cached --recursive", "-*"),
    "notes": spec("--ref=", "-*"),
    "bisect": spec("", "-*"),
    "config": spec(
        "-lz --get --get-all --get-regexp --get-urlmatch --list --global --local --system --worktree --null "
        "--name-only --show-origin --show-scope --includes --no-includes --type= --bool --int --path "
        "--default=",
        "-*",
    ),
}

WRITING: Mapping[str, Spec] = {
    "checkout": spec("-qf --quiet --force --ours --theirs --no-overlay --overlay --progress --no-progress"),
    "restore": spec(
        "-qSW -s= --source= --staged --worktree --quiet --progress --no-progress --ours --theirs --overlay "
        "--no-overlay --ignore-unmerged"
    ),
    "rm": spec("-fnqr --force --dry-run --cached --ignore-unmatch --quiet"),
    "mv": spec("-fknv --force --dry-run --verbose"),
}
