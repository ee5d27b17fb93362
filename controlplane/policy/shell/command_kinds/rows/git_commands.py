"""git, by what it does to work and to remotes."""

GIT_RECORDS = """
git add     | -+AunfpvN --all --update --intent-to-add --force --dry-run --verbose --no-all --refresh --chmod= -- | p*
git commit  | -+amqsvenz -m= --message= -F: --all --amend --no-edit --edit --signoff --allow-empty --allow-empty-message --fixup= --squash= --author= --date= -C= -c= --reuse-message= --trailer= --quiet --verbose --dry-run --only --include --no-gpg-sign --cleanup= -- !--no-verify !-n | p*
git branch  | --list -a -r -v -vv --show-current -u= --set-upstream-to= --track --no-track -t --unset-upstream -m -c --move --copy !-D !-d !--delete !-f !--force !-M !-C | -*
git tag     | -+asmlnf -m= --annotate --message= --list -n --sort= --contains= --points-at= !-d !--delete !-f !--force | -*
git switch -c | --track -t --no-track -q --quiet | -*
git switch --create | --track -t --no-track -q --quiet | -*
git checkout -b | --track -t --no-track -q --quiet | -*
git stash   | -+ukqam -m= --message= --include-untracked --keep-index --staged -S --all --quiet | -*
git stash push | -+ukqam -m= --message= --include-untracked --keep-index --staged -S --all --quiet -- | p*
git stash list | -p --stat --oneline --format= |
git stash show | -p --stat --name-only --name-status -u --include-untracked | -
git stash apply | --index -q --quiet | -
git stash pop | --index -q --quiet | -
git reset   | --soft --mixed -q --quiet -N --intent-to-add -- !--hard !--merge !--keep | -p*
git rm --cached | -r -q --quiet -n --dry-run -- | p*
git worktree list | --porcelain -v |
git worktree prune | -v -n --dry-run |
git remote update | --prune -p |
git rerere  | |
"""

GIT_DISCARDS = """
git switch  | --track -t --no-track --guess --no-guess --detach -d -q --quiet - !-f !--force !--discard-changes !-C !--force-create !-m !--merge !--orphan | -
git checkout | -+qt --track -t --no-track --detach --quiet -q --ours --theirs -- !-f !--force !-B !-p !--patch !--orphan !-m !--merge | -p*
git restore | --staged -S --worktree -W --source= -s= --quiet -q --ours --theirs -- | p*
git reset --hard | -q --quiet | -
git reset --merge | -q --quiet | -
git reset --keep | -q --quiet | -
git clean   | -+fdxXnqie= --dry-run --force --quiet -e= --exclude= -- | p*
git stash drop | -q --quiet | -
git stash clear | |
git branch -D | -r -q | -*
git branch -d | -r -q | -*
git branch --delete | -r -q -f --force | -*
git tag -d  | | -*
git merge   | --no-ff --ff-only --ff --no-edit --edit -e --squash --no-commit --commit -m= --message= --abort --continue --quit -q --quiet --strategy= -s= -X= --stat --no-stat --allow-unrelated-histories --signoff -S | -*
git rebase  | --abort --continue --skip --quit -q --quiet --autostash --no-autostash --onto= --keep-base --rebase-merges -r --autosquash --no-autosquash --strategy= -X= --update-refs --committer-date-is-author-date --root --fork-point --no-fork-point !-i !--interactive | -*
git cherry-pick | -+xnes --no-commit --edit --signoff --abort --continue --skip --quit -m= --mainline= --strategy= -X= --allow-empty --keep-redundant-commits | -*
git revert  | --no-edit -n --no-commit --edit -e --abort --continue --skip --quit -m= --mainline= -s --signoff | -*
git am      | --abort --continue --skip --quit -3 --3way -q --signoff -s | p*
git apply   | --check --stat --numstat --summary --index --cached -3 --3way -R --reverse -p= --ignore-whitespace --whitespace= -v --verbose --reject | p*
git pull    | --rebase --rebase= --no-rebase --ff-only --ff --no-ff -q --quiet --prune -p --tags --autostash --no-edit --all -r --verbose -v | -*
git worktree remove | -f --force | -
git worktree add | -b= --detach --track !-f !--force !-B | p-*
git submodule update | --init --recursive --remote -q --quiet --depth= | p*
"""

GIT_FETCHES = """
git fetch   | --all --prune -p --tags -t --no-tags --depth= --unshallow --deepen= --force -f --quiet -q --verbose -v --dry-run --multiple --recurse-submodules --no-recurse-submodules --progress --jobs= -j= --shallow-since= --set-upstream -a --append | r-*
git ls-remote | --heads -h --tags -t --refs -q --quiet --exit-code --get-url --sort= --symref --branches -b | r-*
git remote show | -n | r
git remote prune | -n --dry-run | r*
"""

GIT_REMOTES = """
git remote add | -f --fetch -t= -m= --tags --no-tags | ra
git remote set-url | --push --add | ra
git remote remove | | r
"""

GIT_SENDS = """
git push    | -u --set-upstream --tags --follow-tags -q --quiet -v --verbose --dry-run -n --progress --porcelain --atomic --no-thin --all --branches !-f !--force !--force-with-lease !--force-if-includes !--mirror !--delete !-d !--prune !--no-verify | r-*
"""
