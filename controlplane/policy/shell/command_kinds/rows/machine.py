"""Processes, services, containers, clusters and clouds."""

MACHINE = """
kill | -9 -15 -KILL -TERM -INT -HUP -USR1 -0 -s= | -*
pkill | -+fxn -9 -TERM -KILL -INT -u= | -*
killall | -9 -TERM -KILL -INT -q -u= | -*
docker compose up | -d --detach --build --wait --force-recreate --no-deps --remove-orphans --quiet-pull -V --no-build --pull= --scale= | -*
docker compose down | --remove-orphans -t= --timeout= !-v !--volumes !--rmi | -*
docker compose build | --no-cache --pull --quiet -q | -*
docker compose ps | -a --all --format= -q --services | -*
docker compose logs | -f --follow --tail= -n= --since= -t --no-color --no-log-prefix | -*
docker compose restart | -t= --timeout= | -*
docker compose start | | -*
docker compose stop | -t= --timeout= | -*
docker compose pull | -q --quiet | -*
docker stop | -t= --time= | -*
docker start | | -*
docker restart | -t= | -*
docker pull | -q --quiet --platform= | -*
docker build | -t= --tag= -f: --file: --target= --build-arg= --no-cache --pull -q --quiet --platform= --progress= | p
docker system df | -v |
docker stats | --no-stream -a --format= | -*
docker top | | -*
docker info | -f= --format= |
docker network ls | |
docker volume ls | |
podman ps | -a -q --format= |
systemctl status | --no-pager -l -n= | -*
systemctl start | --user | -*
systemctl stop | --user | -*
systemctl restart | --user | -*
service | | -*
launchctl list | | -*
brew install | -q --quiet --cask | -*
brew services | | -*
brew list | --versions --formula --cask | -*
brew info | --json | -*
apt install | -y -q -qq --no-install-recommends | -*
apt-get install | -y -q -qq --no-install-recommends | -*
apt-get update | -q -qq -y |
apt update | -q -y |
open | -a= -e -t | -*
xdg-open | | -
tmux kill-session | -t= |
"""

SENDS = """
npm publish | --access= --tag= --dry-run --provenance |
pnpm publish | --access= --tag= --dry-run --no-git-checks -r --recursive |
yarn publish | --access= --tag= |
cargo publish | --dry-run -p= --allow-dirty |
twine upload | -r= --repository= | p*
uv publish | |
poetry publish | --build |
gem push | | p
docker push | -q | -
gh pr create | | -*
glab mr create | | -*
kubectl apply | -n= --namespace= -k: --server-side --dry-run= -f: |
kubectl delete | -n= --namespace= -l= | -*
kubectl rollout restart | -n= --namespace= | -*
kubectl scale | -n= --namespace= --replicas= | -*
terraform apply | -auto-approve -var= -var-file: -target= -no-color -input= | p
terraform destroy | -auto-approve -var= -target= | p
helm install | -n= --namespace= -f: --values: --set= --create-namespace --wait | -p*
helm upgrade | -n= --namespace= -f: --values: --set= --install -i --create-namespace --wait --atomic | -p*
helm uninstall | -n= --namespace= | -*
vercel | --prod --yes -y |
vercel deploy | --prod --yes -y |
netlify deploy | --prod |
wrangler deploy | --env= -e= --dry-run |
wrangler publish | --env= -e= |
fly deploy | --remote-only --app= -a= |
firebase deploy | --only= --project= |
serverless deploy | --stage= |
cdk deploy | --all --require-approval= | -*
pulumi up | --yes -y --stack= -s= |
"""

BROWSES = """
kubectl get | -n= --namespace= -o= --output= -A --all-namespaces -l= --selector= -w --watch --show-labels --sort-by= --context= --field-selector= | -*
kubectl describe | -n= --namespace= -l= --context= | -*
kubectl logs | -n= --namespace= -f --follow --tail= --since= -c= --container= --previous -p -l= --context= --timestamps --all-containers | -*
kubectl top | -n= --namespace= -A | -*
kubectl config current-context | |
kubectl config get-contexts | |
terraform plan | -out: -var= -var-file: -target= -no-color -input= -refresh= -lock= -detailed-exitcode | p
terraform show | -json -no-color | p
terraform output | -json -raw -no-color | -
terraform state list | | -*
terraform init | -backend= -upgrade -input= -no-color -reconfigure |
helm list | -n= --namespace= -A -a | -*
helm status | -n= --namespace= | -
helm get | -n= --namespace= | -*
helm repo update | | -*
nc | -+zvwu -w= -z -v | -*
ping | -c= -W= -t= -n -q | -
dig | +short -t= @ | -*
nslookup | | -*
entire search | --json --repo= --limit= | -*
host | | -*
whois | | -
traceroute | | -
"""
