"""Options that a script of package.json and the like may be given."""

SCRIPT_OPTIONS = (
    "--filter= -F= --workspace= -w= --workspaces --ws -r --recursive --if-present --silent -s --parallel --stream"
    " --aggregate-output --workspace-concurrency= --no-bail --sort --reporter= --run -t= --testPathPattern= --watch"
    " --watch= --coverage --no-coverage --grep= -g= --project= --reporter= --fix --check --write --noEmit -u --update"
    " --bail --max-warnings= --testNamePattern= --verbose --ci --debug --force --no-cache --runInBand -i --passWithNoTests"
    " --maxWorkers= --testPathPatterns= --testTimeout= --detectOpenHandles --forceExit --workers= --headed --list"
)
