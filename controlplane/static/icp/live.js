// The push connection of a page. A message, {seq, type, at, data}, is an event of the workspace and brings the rows
// that it changes in what the page shows ("icp:rows", rows.js; "icp:queue", queue.js). On "icp:approval-<id>" an open
// card fetches itself, on "icp:session-<id>" its receipt; what came while the page was away is not drawn: on "icp:refresh" each live part does.

// What the page shows, so that it gets the rows of that and of nothing else.
const views = () => [...document.querySelectorAll("[data-live]")].map((part) => `&show=${encodeURIComponent(part.dataset.live)}`).join("");
const REFUSED = 4403; // signed out or no longer a member: coming back would not help
const LONGEST_WAIT = 10_000;
const POLL_EVERY = 15_000;

class Live extends HTMLElement {
  connectedCallback() {
    this.seq = Number(this.dataset.seq);
    this.failures = 0;
    this.closing = false;
    this.lostAt = Date.now();
    this.onOnline = () => this.reconnect(0);
    addEventListener("online", this.onOnline);
    this.open();
  }

  disconnectedCallback() {
    this.closing = true;
    removeEventListener("online", this.onOnline);
    clearTimeout(this.timer);
    this.socket?.close();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}${this.dataset.socket}?since=${this.seq}&show=${views()}`);
    this.socket.onopen = () => this.opened();
    this.socket.onmessage = (message) => this.received(JSON.parse(message.data));
    this.socket.onclose = ({ code }) => this.closed(code);
  }

  opened() {
    this.failures = 0;
    this.lostAt = null;
    this.show("live");
    announce("icp:live");
  }

  closed(code) {
    if (this.closing) return;
    if (code === REFUSED) return this.show("refused");
    this.lostAt ??= Date.now();
    this.failures += 1;
    this.reconnect(Math.min(LONGEST_WAIT, 250 * 2 ** this.failures) * (0.75 + Math.random() / 2));
    this.probe();
  }

  reconnect(wait) {
    clearTimeout(this.timer);
    if (this.socket?.readyState === WebSocket.OPEN) return;
    this.timer = setTimeout(() => this.open(), wait);
  }

  // Pushes may be blocked where pages still load; only a server that does not answer is "offline".
  async probe() {
    const answered = await fetch("/healthz", { cache: "no-store" }).then((r) => r.ok, () => false);
    if (this.lostAt === null || this.closing) return;
    this.show(answered ? "reconnecting" : "offline");
    if (answered && Date.now() - (this.polledAt ?? this.lostAt) > POLL_EVERY) {
      this.polledAt = Date.now();
      announce("icp:refresh");
    }
  }

  // The only thing that a page says: true when it was sent.
  say(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  received(event) {
    if (event.type === "approval.reviewing") {
      announce("icp:reviewing", event.data); // no event of the ledger: it has no number
      return;
    }
    if (event.type === "hello") return;
    this.seq = Math.max(this.seq, event.seq);
    if (event.type === "missed") announce("icp:missed"); // more than is sent one by one
    announce(event.drawn === false ? "icp:refresh" : "icp:entry");
    if (event.data?.stop) announce("icp:stops");
    if (event.changes) announce("icp:rows", event.changes);
    if (event.data?.session_id) announce(`icp:session-${encodeURIComponent(event.data.session_id)}`);
    if (event.type.startsWith("approval.")) this.approval(event);
  }

  approval({ type, data, pending, queue }) {
    if (pending !== undefined) announce("icp:queue", { pending, ...queue });
    announce(`icp:approval-${data.approval_id}`, data);
    if (type === "approval.requested" && data.event === "requested") {
      announce("icp:say", { text: `New approval, ${data.reach} reach, ${data.tool} by ${data.agent}` });
    }
  }

  show(state) {
    const seconds = this.lostAt ? Math.round((Date.now() - this.lostAt) / 1000) : 0;
    const words = { live: "Live", refused: "Not live", reconnecting: "Reconnecting", offline: `Offline for ${seconds} s` };
    this.dataset.tone = { live: "allow", reconnecting: "ask", offline: "deny", refused: "pending" }[state];
    this.querySelector(".state").textContent = words[state];
    this.querySelector(".dot").classList.toggle("dot-live", state === "live");
    document.documentElement.dataset.connection = state;
    lock();
  }
}

function announce(name, detail = {}) {
  document.body.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
}

// While the server is away nothing can be decided: the buttons say so instead of failing.
function lock() {
  const offline = document.documentElement.dataset.connection === "offline";
  for (const button of document.querySelectorAll("[data-needs-server]")) {
    if (offline && !button.disabled) button.dataset.locked = "";
    if (!offline && !("locked" in button.dataset)) continue;
    button.disabled = offline;
    if (!offline) delete button.dataset.locked;
  }
}

document.addEventListener("htmx:afterSettle", lock);
customElements.define("icp-live", Live);
