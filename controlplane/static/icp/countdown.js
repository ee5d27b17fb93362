// Time left, drawn from an instant, and "4 min ago" kept true. Without script the page shows
// what was true when it was made, with the exact instant in the tooltip.

const URGENT_WITH_BAR = 90;
const URGENT = 60;

function amount(seconds, round) {
  for (const [below, unit, name] of [[60, 1, "s"], [3600, 60, "min"], [86_400, 3600, "h"]]) {
    const value = round(seconds / unit);
    if (value * unit < below) return `${value} ${name}`;
  }
  return `${round(seconds / 86_400)} d`;
}

class Countdown extends HTMLElement {
  connectedCallback() {
    this.until = Date.parse(this.dataset.until);
    this.tick();
    this.timer = setInterval(() => this.tick(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  tick() {
    const left = Math.floor((this.until - Date.now()) / 1000);
    const bar = this.querySelector("progress");
    this.querySelector("time").textContent = this.words(left, bar);
    if (left < (bar ? URGENT_WITH_BAR : URGENT)) this.urge(bar);
    if (bar) bar.value = Math.max(0, left);
    if (left <= 0) clearInterval(this.timer);
  }

  words(left, bar) {
    if (!bar && left <= 0) return "time is over";
    if (!bar && left < 60) return `expires in ${left} s`;
    return `${amount(Math.max(0, left), Math.floor)} left`;
  }

  urge(bar) {
    this.dataset.tone = "deny";
    if (!bar) return;
    bar.dataset.tone = "deny";
    const extend = document.querySelector("[data-extend][hidden]");
    if (extend) extend.hidden = false;
  }
}

function refresh() {
  for (const time of document.querySelectorAll("time[data-since]")) {
    const seconds = Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000);
    time.textContent = seconds < 1 ? "now" : amount(seconds, Math.ceil) + time.dataset.since;
  }
}

setInterval(refresh, 5000);
customElements.define("icp-countdown", Countdown);
