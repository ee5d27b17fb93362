"""Tests, builds, linters and formatters of a project."""

VERBOSITY = "-v --verbose -q --quiet -s --silent --color --color= --no-color --help -h --version --json --ci"

RUNNERS = """
go test     | -+v -race -short -count= -run= -timeout= -cover -coverprofile> -covermode= -bench= -benchmem -benchtime= -failfast -parallel= -p= -tags= -skip= -list= -shuffle= -json -vet= -cpu= -fuzz= -fuzztime= -C: -c -o> | p*
go build    | -+v -race -tags= -trimpath -o> -p= -mod= -C: -x | p*
go vet      | -tags= -C: -json | p*
go run      | -race -tags= -C: | p-*
go fmt      | -n -x | w*
go env      | -json -changed | -*
go doc      | -all -c -cmd -short -src -u -C: | p*
go mod tidy | -+v -C: -go= -compat= |
go generate | -+v -run= -n -x -tags= | p*
gofmt       | -l -d -s -e -w^ -r= | p*
goimports   | -l -d -e -w^ -local= | p*
golangci-lint run | --fix^ --timeout= --config: -c: --fast --fast-only --new? --new-from-rev= --new-from-merge-base= --whole-files --no-config --default= --enable-only= --concurrency= -j= --allow-parallel-runners --show-stats? --issues-exit-code= --presets= -p= --disable= --enable= --max-issues-per-linter= --max-same-issues= --tests --build-tags= -E= -D= | p*
golangci-lint fmt | --diff -E= | p*
staticcheck | -tests -checks= -f= | p*
cargo test  | -p= --package= --workspace --all --lib --bins --bin= --test= --tests --examples --doc --release -r --features= --all-features --no-default-features --no-run --no-fail-fast -j= --jobs= --locked --offline --frozen --target= --nocapture --test-threads= --exact --ignored --include-ignored --show-output --message-format= | -*
cargo build | -p= --package= --workspace --all --lib --bins --bin= --example= --release -r --features= --all-features --no-default-features -j= --jobs= --locked --offline --frozen --target= --message-format= --all-targets |
cargo check | -p= --package= --workspace --all --lib --bins --bin= --tests --all-targets --release --features= --all-features --no-default-features -j= --locked --offline --message-format= --target= |
cargo clippy | -p= --package= --workspace --all --all-targets --lib --tests --features= --all-features --no-default-features --fix --allow-dirty --allow-staged --no-deps --locked --offline --message-format= -D= -W= -A= |
cargo fmt   | -p= --package= --all --check |
cargo doc   | -p= --package= --workspace --no-deps --all-features --features= --lib |
cargo bench | -p= --package= --workspace --bench= --no-run --features= | -*
cargo run   | -p= --package= --bin= --example= --release -r --features= --all-features --no-default-features | -*
cargo nextest run | -p= --package= --workspace --all-features --features= --no-fail-fast -E= --profile= | -*
rustfmt     | --check --edition= | w*
pytest      | -+vqxslh -k= -m= -n= --maxfail= --lf --ff --last-failed --failed-first --nf --sw --stepwise --tb= --co --collect-only --durations= --cov? --cov: --cov-report: --no-cov --no-header --no-summary --timeout= -rA -ra -rs -rf --strict-markers --disable-warnings -W= --asyncio-mode= --ignore: --deselect= --pdb --capture= --exitfirst --reruns= --dist= --runslow | p*
tox         | -e= --env= -p= --parallel? -r --recreate -q -l run | -*
nox         | -s= --session= --sessions= -r -R -k= -l --list | -*
ruff check  | --fix^ --unsafe-fixes --diff --watch --select= --ignore= --extend-select= --output-format= --statistics --no-cache --show-fixes --exit-zero --preview -n | p*
ruff format | --check --diff --no-cache --preview --line-length= | w*
black       | --check --diff --line-length= -l= --target-version= -t= -S | w*
isort       | --check --check-only --diff --profile= -c | w*
flake8      | --max-line-length= --select= --ignore= --extend-ignore= --count --statistics --show-source --exclude= | p*
pylint      | --disable= --enable= --errors-only -E --output-format= -f: -j= --score= --reports= | p*
mypy        | --strict --ignore-missing-imports --no-error-summary --show-error-codes --pretty --no-incremental --namespace-packages --explicit-package-bases --check-untyped-defs --follow-imports= --python-version= -p= -m= | p*
pyright     | -p: --project: --outputjson --stats --level= --pythonversion= | p*
coverage report | -m --show-missing --skip-covered --fail-under= --include= --omit= |
tsc         | --noEmit -p: --project: --build -b --pretty --skipLibCheck --incremental --strict --listFiles --watch -w --target= --module= --esModuleInterop --jsx= --allowImportingTsExtensions --allowArbitraryExtensions --allowJs --allowSyntheticDefaultImports --allowUmdGlobalAccess --allowUnreachableCode --allowUnusedLabels --alwaysStrict --checkJs --composite --declaration --declarationMap --downlevelIteration --emitDeclarationOnly --emitDecoratorMetadata --erasableSyntaxOnly --exactOptionalPropertyTypes --experimentalDecorators --explainFiles --extendedDiagnostics --diagnostics --forceConsistentCasingInFileNames --importHelpers --inlineSourceMap --inlineSources --isolatedDeclarations --isolatedModules --libReplacement --listEmittedFiles --listFilesOnly --noEmitOnError --noErrorTruncation --noFallthroughCasesInSwitch --noImplicitAny --noImplicitOverride --noImplicitReturns --noImplicitThis --noLib --noPropertyAccessFromIndexSignature --noResolve --noUncheckedIndexedAccess --noUncheckedSideEffectImports --noUnusedLocals --noUnusedParameters --preserveConstEnums --preserveSymlinks --preserveWatchOutput --removeComments --resolveJsonModule --resolvePackageJsonExports --resolvePackageJsonImports --rewriteRelativeImportExtensions --showConfig --skipDefaultLibCheck --sourceMap --strictBindCallApply --strictBuiltinIteratorReturn --strictFunctionTypes --strictNullChecks --strictPropertyInitialization --stripInternal --traceResolution --useDefineForClassFields --useUnknownInCatchVariables --verbatimModuleSyntax --dry --force --clean --ignoreConfig --moduleResolution= --lib= --types= --moduleDetection= --jsxImportSource= --ignoreDeprecations= -t= -m= -d | p*
vue-tsc     | --noEmit -p: --project: --build -b --skipLibCheck | p*
eslint      | --fix^ --ext= --max-warnings= --format: -f: --cache --no-cache --no-eslintrc --report-unused-disable-directives --no-error-on-unmatched-pattern --fix-dry-run | p*
prettier    | --check --write^ -+cwl --list-different --log-level= --loglevel= --no-config --ignore-unknown -u^ --cache | p*
biome check | --write^ --fix^ --apply^ --unsafe --no-errors-on-unmatched --max-diagnostics= --diagnostic-level= --changed --staged --reporter: | p*
biome lint  | --write^ --fix^ --apply^ --unsafe --no-errors-on-unmatched --max-diagnostics= --diagnostic-level= --reporter: | p*
biome format | --write^ --fix^ --no-errors-on-unmatched | p*
biome ci    | --no-errors-on-unmatched --max-diagnostics= --reporter: | p*
stylelint   | --fix^ --allow-empty-input | p*
oxlint      | --fix^ --deny= -D= -A= | p*
knip        | --production --no-exit-code --include= --exclude= |
jest        | -t= --testNamePattern= --testPathPattern= --testPathPatterns= --testPathIgnorePatterns= --coverage --no-coverage --watch --watchAll= --watchAll -i --runInBand --bail -b --bail= --maxWorkers= -w= --forceExit --detectOpenHandles --listTests --passWithNoTests --no-cache --updateSnapshot -u --onlyChanged -o --findRelatedTests --silent= --testTimeout= --selectProjects= --ci --expand --passWithNoTests --clearCache --showConfig | p*
vitest      | -t= --testNamePattern= --run --watch --watch= --coverage --coverage= --reporter: --ui --bail= --changed --passWithNoTests --no-file-parallelism --pool= --project= --update -u --dom --typecheck --globals --environment: --testTimeout= --no-coverage | p*
vitest run  | -t= --testNamePattern= --coverage --coverage= --reporter: --bail= --changed --passWithNoTests --no-file-parallelism --pool= --project= --update -u --dom --typecheck --environment: --testTimeout= --no-coverage | p*
mocha       | --grep= -g= --timeout= -t= --bail -b --recursive --reporter: -R= --exit --parallel | p*
ava         | --match= -m= --serial --fail-fast --timeout= -T= | p*
playwright test | --project= --grep= -g= --headed --debug --reporter: --workers= -j= --retries= --timeout= --update-snapshots -u --list --ui --max-failures= -x --trace= --last-failed --repeat-each= | p*
cypress run | --spec: --browser= --headed --headless --component --e2e |
markdownlint | --fix^ --ignore= | p*
markdownlint-cli2 | --fix^ | p*
cspell      | --no-progress --no-summary --words-only | p*
vale        | --output= --minAlertLevel= --glob= --no-exit | p*
shellcheck  | -x -S= --severity= -s= --shell= -f: --format: -e= --exclude= -a | p*
shfmt       | -l -d -s -w^ -i= -ci -bn -ln= | p*
hadolint    | -f= --ignore= --no-fail | p*
actionlint  | -ignore= -no-color -oneline -verbose | p*
yamllint    | -f= -s --strict -d= | p*
sqlfluff lint | --dialect= | p*
buf lint    | --error-format= | p*
go list     | -m -u^ -json -f= -versions -deps -e all | p*
cargo tree  | -i= -p= --invert= --depth= -e= --edges= --duplicates -d |
cargo metadata | --format-version= --no-deps |
cargo audit | --json |
pnpm view   | --json | -*
pnpm outdated | --format= -r --recursive | -*
pnpm audit  | --json --prod --audit-level= |
pnpm list   | --json --depth= -r --recursive --prod | -*
pnpm why    | --json -r --recursive | -*
yarn info   | --json | -*
yarn npm info | --json | -*
yarn why    | | -
yarn workspaces list | --json |
make        | -+nBksi -j? --jobs= -n --dry-run --always-make -k --keep-going --no-print-directory | -*
just        | -l --list -n --dry-run --summary --show= --choose | -*
task        | -l --list -a --list-all -n --dry -f --force -p --parallel --summary | -*
mise run    | -n --dry-run -f --force -j= --jobs= -r --raw --output= | -*
mise tasks  | ls | -*
mvn         | -+qBUoeX -pl= -am -amd -T= -P= -DskipTests -Dtest= --batch-mode --no-transfer-progress -ntp --fail-at-end -fae | -*
mvnw        | -+qBUoeX -pl= -am -T= -P= -DskipTests -Dtest= --batch-mode -ntp | -*
gradle      | -x= --tests= --info --debug --stacktrace -s --offline --parallel --no-daemon --daemon --continue --rerun-tasks --build-cache --no-build-cache --console= | -*
gradlew     | -x= --tests= --info --debug --stacktrace -s --offline --parallel --no-daemon --daemon --continue --rerun-tasks --build-cache --no-build-cache --console= | -*
dotnet test | --no-build --no-restore --filter= -c= --configuration= --logger: -l= --framework= -f= --nologo --list-tests -t | p*
dotnet build | --no-restore -c= --configuration= --framework= -f= --nologo -m --no-incremental | p*
dotnet format | --verify-no-changes --no-restore --include= --severity= | p*
dart analyze | --fatal-infos --fatal-warnings --no-fatal-warnings --format= | p*
dart format | --set-exit-if-changed -l= --line-length= --output=none | w*
dart test   | -n= --name= -t= --tags= -r= --reporter: -j= --chain-stack-traces -p= | p*
dart run build_runner build | --delete-conflicting-outputs -d |
flutter test | --name= --plain-name= --coverage -r= --reporter: --update-goldens -t= --tags= -j= | p*
flutter analyze | --no-fatal-infos --no-fatal-warnings --no-pub | p*
flutter build | --debug --release --profile --no-codesign --no-pub --flavor= -t: --split-per-abi | -*
swift test  | --filter= --skip= --parallel --enable-code-coverage -c= --configuration= -q |
swift build | -c= --configuration= --target= --product= -q --build-tests |
xcodebuild test | -scheme= -project: -workspace: -destination= -only-testing= -configuration= -sdk= -quiet |
xcodebuild build | -scheme= -project: -workspace: -destination= -configuration= -sdk= -quiet |
mix test    | --trace --cover --only= --exclude= --include= --failed --stale --seed= --max-failures= | p*
mix format  | --check-formatted --dry-run | w*
mix compile | --force --warnings-as-errors --all-warnings |
mix credo   | --strict -a --all --format= | -*
phpunit     | --filter= --testsuite= --group= --stop-on-failure --testdox --colors= | p*
phpstan analyse | --level= -l= --no-progress --memory-limit= --error-format= -c: | p*
rspec       | -f: --format: -e= --example= -t= --tag= --fail-fast --only-failures --seed= | p*
rubocop     | -a -A --auto-correct^ --autocorrect^ --only= --format: -f: --parallel | p*
rake        | -T -n --dry-run --trace -P | -*
rails test  | -n= --name= -v -b -f --fail-fast --seed= | p*
bazel test  | --test_output= --test_filter= --config= --keep_going -k --nocache_test_results | -*
bazel build | --config= --keep_going -k | -*
cmake --build | --target= -t= --config= -j? --parallel= | p*
ctest       | --output-on-failure -R= -E= -j? -V --verbose --test-dir: -N --rerun-failed -L= |
ninja       | -+nv -j? -C: -k= | -*
meson test  | -C: --suite= --verbose --print-errorlogs | -*
zig build   | --summary= -D= | -*
zig test    | -O= | p*
deno test   | --allow-read --allow-net --allow-env --allow-all -A --filter= --coverage --parallel --no-check --watch --fail-fast | p*
deno lint   | --fix^ --rules-tags= | p*
deno fmt    | --check | w*
deno check  | --all | p*
bun test    | -t= --test-name-pattern= --filter= -F= --concurrent --randomize --seed= --max-concurrency= --timeout= --bail --bail= --coverage --watch --rerun-each= --only --todo --update-snapshots -u | p*
terraform fmt | -check -diff -recursive -list= -write= | p*
terraform validate | -no-color |
helm lint   | --strict --quiet | p*
helm template | --show-only= -s= --set= --debug | -p*
pre-commit run | --all-files -a --files --from-ref= --to-ref= --hook-stage= --show-diff-on-failure | -p*
husky       | |
lint-staged | --no-stash --allow-empty --debug |
turbo run   | --filter= -F= --force --no-cache --concurrency= --output-logs= --affected --dry --dry= --parallel --continue | -*
nx          | --skip-nx-cache --base= --head= --projects= --target= -t= -p= --parallel= --all --configuration= --verbose --affected | -*
lerna run   | --scope= --since= --stream --parallel --concurrency= | -*
storybook build | --quiet --docs |
vite build  | --mode= -m= --debug --minify= --watch -w | p
next build  | --no-lint --debug --profile --turbo --turbopack | p
next lint   | --fix^ --strict --dir: --max-warnings= | p*
astro check | |
astro build | --mode= |
svelte-check | --tsconfig: --threshold= --output= --fail-on-warnings |
ng test     | --watch= --browsers= --code-coverage --include= | -*
ng build    | --configuration= -c= --watch --verbose | -*
ng lint     | --fix | -*
drizzle-kit generate | --name= |
prisma generate | --watch |
prisma validate | |
prisma format | |
webpack     | --mode= --watch --progress --stats= |
rollup      | -c -w --watch |
tsup        | --watch --clean --dts --minify | p*
python -m pytest | -+vqxslh -k= -m= -n= --maxfail= --lf --ff --tb= --co --collect-only --durations= --cov? --cov: --cov-report: --no-cov --no-header --timeout= -rA -ra -rs -rf --disable-warnings -W= --ignore: --deselect= --capture= --strict-markers | p*
python -m unittest | -+vqfcb -k= --verbose --failfast discover -s: -p= -t: | -*
python -m mypy | --strict --ignore-missing-imports -p= -m= | p*
python -m compileall | -+qf -j= | p*
python -m py_compile | | p*
python -m ruff check | --fix^ --select= --ignore= --output-format= | p*
python manage.py test | --keepdb --parallel= --parallel --failfast -k= --tag= -v= --verbosity= --noinput | -*
python manage.py check | --deploy | -*
python manage.py makemigrations | --check --dry-run -n= --name= --empty | -*
node --test | --test-name-pattern= --test-reporter= --watch --experimental-strip-types --experimental-test-coverage --test-concurrency= --test-timeout= | p*
"""
