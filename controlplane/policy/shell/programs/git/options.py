"""Options of git's subcommands, without those that run or choose a program."""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.shell.options import OptionSpec, build_spec

DIFF_OPTIONS = (
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
LOG_OPTIONS = (
    DIFF_OPTIONS
    + " -n= -L= -gEiF --max-count= --skip= --since= --after= --until= --before= --since-as-filter= "
    "--author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp "
    "--fixed-strings --perl-regexp --oneline --graph --decorate? --no-decorate --all --branches? --tags? "
    "--remotes? --glob= --exclude= --merges --no-merges --first-parent --follow --reverse --format= "
    "--pretty? --abbrev-commit --no-abbrev-commit --date= --topo-order --date-order --author-date-order "
    "--left-right --left-only --right-only --cherry --cherry-pick --cherry-mark --walk-reflogs --no-walk? "
    "--source --full-history --simplify-merges --ancestry-path? --boundary --count --parents --children "
    "--notes? --no-notes --show-pulls --dense --sparse --relative-date --min-parents= --max-parents= "
    "--log-size --not"
)

LIST_OPTIONS = (
    "--list -l --sort= --format= --column? --contains= --no-contains= --merged? --no-merged? --points-at="
)

READING: Mapping[str, OptionSpec] = {
    "status": build_spec(
        "-sbzv -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --no-renames "
        "--ahead-behind --no-ahead-behind --show-stash --column? --find-renames? --ignore-submodules?"
    ),
    "diff": build_spec(DIFF_OPTIONS, marks="takes_number"),
    "diff-tree": build_spec(DIFF_OPTIONS + " --stdin --no-commit-id -v --always --pretty? --format="),
    "diff-index": build_spec(DIFF_OPTIONS),
    "diff-files": build_spec(DIFF_OPTIONS),
    "log": build_spec(LOG_OPTIONS, marks="takes_number"),
    "whatchanged": build_spec(LOG_OPTIONS, marks="takes_number"),
    "show": build_spec(LOG_OPTIONS, marks="takes_number"),
    "rev-list": build_spec(
        LOG_OPTIONS + " --objects --disk-usage? --timestamp --header", marks="takes_number"
    ),
    "reflog": build_spec(LOG_OPTIONS, marks="takes_number"),
    "shortlog": build_spec(
        LOG_OPTIONS + " -nse -w? --numbered --summary --email --group=", marks="takes_number"
    ),
    "cherry": build_spec("-v --abbrev?"),
    "range-diff": build_spec(DIFF_OPTIONS),
    "branch": build_spec(
        "-arvq --all --remotes --verbose --show-current --abbrev= --no-abbrev --color? " + LIST_OPTIONS
    ),
    "tag": build_spec("-n? --color? " + LIST_OPTIONS, marks="takes_number"),
    "rev-parse": build_spec(
        "-q --abbrev-ref? --verify --short? --symbolic --symbolic-full-name --show-toplevel --show-prefix "
        "--show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree "
        "--is-bare-repository --is-inside-git-dir --all --branches? --tags? --remotes? --quiet --not "
        "--default= --show-superproject-working-tree --is-shallow-repository --path-format= --revs-only "
        "--no-revs --flags --no-flags"
    ),
    "ls-files": build_spec(
        "-cdmoiskuvtz -x= -X=r --cached --deleted --modified --others --ignored --stage --killed --unmerged "
        "--exclude= --exclude-from=r --exclude-standard --error-unmatch --full-name --abbrev? --eol "
        "--directory --no-empty-directory --deduplicate --recurse-submodules --format= --with-tree="
    ),
    "ls-tree": build_spec(
        "-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?"
    ),
    "blame": build_spec(
        "-bcefklnpstw -L= -M? -C? -S=r --root --show-stats --porcelain --line-porcelain --date= "
        "--color-lines --color-by-age --abbrev= --incremental --reverse --first-parent --show-email"
    ),
    "annotate": build_spec("-bcefklnpstw -L= -M? -C? --porcelain --date="),
    "describe": build_spec(
        "--all --tags --always --long --dirty? --broken? --contains --abbrev= --exact-match "
        "--match= --exclude= --candidates= --first-parent"
    ),
    "grep": build_spec(
        "-aiIwvhHEGPFnlLzocprqW -A= -B= -C= -e= -f=r -m= --cached --no-index --untracked --text "
        "--ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp "
        "--perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only "
        "--files-without-match --null --only-matching --count --color? --no-color --break --heading "
        "--show-function --function-context --max-depth= --max-count= --threads= --and --or --not "
        "--all-match --quiet --recursive --no-recursive --exclude-standard --no-exclude-standard "
        "--after-context= --before-context= --context=",
        marks="takes_number",
    ),
    "cat-file": build_spec("-tspe --batch-check? --batch-all-objects --unordered --buffer"),
    "merge-base": build_spec("-a --all --octopus --independent --is-ancestor --fork-point"),
    "apply": build_spec("-v -p= --check --stat --numstat --summary --verbose --directory="),
    "name-rev": build_spec("--tags --refs= --exclude= --all --name-only --always"),
    "for-each-ref": build_spec(
        "--count= --sort= --format= --color? --points-at= --merged? --no-merged? --contains? "
        "--no-contains? --exclude= --ignore-case",
        "-*",
    ),
    "show-ref": build_spec(
        "-dqs --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet", "-*"
    ),
    "show-branch": build_spec(
        "-arg --all --remotes --list --no-name --sha1-name --topics --topo-order --current", "-*"
    ),
    "count-objects": build_spec("-vH --verbose --human-readable", ""),
    "check-ignore": build_spec("-qvzn --quiet --verbose --stdin --non-matching --no-index"),
    "check-attr": build_spec("-az --all --stdin --cached"),
    "symbolic-ref": build_spec("-q --short --quiet", "-*"),
    "var": build_spec("-l", "-*"),
    "version": build_spec("--build-options", ""),
    "remote": build_spec("-vn --verbose --all --push", "-*"),
    "stash": build_spec(LOG_OPTIONS + " --include-untracked --only-untracked", marks="takes_number"),
    "worktree": build_spec("-vz --verbose --porcelain", "-*"),
    "submodule": build_spec("-q --quiet --cached --recursive", "-*"),
    "notes": build_spec("--ref=", "-*"),
    "bisect": build_spec("", "-*"),
    "config": build_spec(
        "-lz --get --get-all --get-regexp --get-urlmatch --list --global --local --system --worktree --null "
        "--name-only --show-origin --show-scope --includes --no-includes --type= --bool --int --path "
        "--default=",
        "-*",
    ),
}

WRITING: Mapping[str, OptionSpec] = {
    "checkout": build_spec(
        "-qf --quiet --force --ours --theirs --no-overlay --overlay --progress --no-progress"
    ),
    "restore": build_spec(
        "-qSW -s= --source= --staged --worktree --quiet --progress --no-progress --ours --theirs --overlay "
        "--no-overlay --ignore-unmerged"
    ),
    "rm": build_spec("-fnqr --force --dry-run --cached --ignore-unmatch --quiet"),
    "mv": build_spec("-fknv --force --dry-run --verbose"),
}
