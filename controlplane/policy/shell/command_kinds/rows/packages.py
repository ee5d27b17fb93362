"""Package managers: what they look up and what they bring in."""

PACKAGE_READS = """
npm view     | --json versions version | -*
npm audit    | --json --omit= --audit-level= --production |
npm outdated | --json --long | -*
npm ping     | |
npm whoami   | |
npm search   | --json --long | -*
npm owner ls | --json | -*
npm access ls-packages | --json | -*
npm access list packages | --json | -*
npm dist-tag ls | --json | -*
pip index versions | --pre | -
gem search   | | -
"""

INSTALL_OPTIONS = (
    "-D --save-dev -E --save-exact -P --save-prod -O --save-optional --save --no-save --frozen-lockfile --no-frozen-lockfile"
    " --ignore-scripts --legacy-peer-deps --prefer-offline --offline --no-audit --no-fund --production --prod --dev -d"
    " --immutable --filter= -F= -w= --workspace= --force -f --exact --peer --latest -L -r --recursive --upgrade -U"
    " --user --no-deps --quiet -q --no-cache-dir --no-input --pre --extra= --group= --all-extras --locked --frozen"
    " --no-interaction --no-dev --with= --without= --only= --features= --optional= -p= --package= --build --no-root --sync"
    " --lockfile-only --verbose -v -y --yes --silent -s -u -t --all --all-groups --no-install-project --compile-bytecode"
)

INSTALLS = """
npm install | | -*
npm i | | -*
npm ci | |
npm pack | --dry-run --json --pack-destination> | -*
npm update | | -*
npm uninstall | | -*
npm dedupe | |
pnpm install | |
pnpm i | |
pnpm add | | -*
pnpm remove | | -*
pnpm update | | -*
yarn install | |
yarn add | | -*
yarn remove | | -*
yarn upgrade | | -*
bun install | | -*
bun i | | -*
bun add | | -*
bun remove | | -*
bun update | | -*
pip install | -r: -e: -c: | -*
pip uninstall | | -*
uv sync | |
uv lock | |
uv add | | -*
uv remove | | -*
uv pip install | -r: -e: | -*
uv venv | --python= | p
poetry install | |
poetry add | | -*
poetry remove | | -*
poetry update | | -*
poetry lock | --no-update |
pipenv install | | -*
pdm install | |
pdm add | | -*
cargo add | | -*
cargo remove | | -*
cargo update | | -*
cargo fetch | |
go get | | -*
go install | -+v -race -tags= -trimpath | -*
go mod download | | -*
bundle install | |
bundle update | | -*
gem install | -v= --version= | -*
composer install | |
composer require | | -*
composer update | | -*
mix deps.get | |
flutter pub get | |
flutter pub add | | -*
dart pub get | |
dart pub add | | -*
dotnet restore | | p*
dotnet add package | --version= | -*
swift package resolve | |
pod install | --repo-update |
corepack enable | |
corepack prepare | --activate | -*
mise install | | -*
asdf install | | -*
playwright install | --with-deps | -*
"""
