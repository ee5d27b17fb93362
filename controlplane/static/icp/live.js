// The push connection of a page. A message is {seq, type, at, data}: `type` is an event of the workspace
// such as "approval.requested"; the first one is "hello". Each becomes events on <body>, "icp:approval" and
// "icp:approval-<id>", on which elements fetch their own fragment (hx-trigger): a lost message costs nothing
// but a later fetch. On the queue's page an approval event brings the rows that it changes (queue.js).

// As templates write an id into hx-trigger: none may hold what htmx would read as more than a name.
const spelt = (id) => encodeURIComponent(id)
  .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
const SUBJECTS = ["approval", "decision", "session", "trace"];
const REMEMBERED = 1000;
const REFUSED = 4403; // signed out or no longer a member: coming back would not help
const LONGEST_WAIT = 10_000;
const POLL_EVERY = 15_000;

class Live extends HTMLElement {
  connectedCallback() {
    this.seq = Number(this.dataset.seq);
    this.seen = new Set(); // a lower number may arrive after a higher one, so numbers are remembered
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
    this.socket = new WebSocket(`${scheme}//${location.host}${this.dataset.socket}?since=${this.seq}${document.getElementById("queue") ? "&rows=1" : ""}`);
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
    if (code === REFUSED) {
      this.show("refused");
      return;
    }
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
      for (const subject of SUBJECTS) announce(`icp:${subject}`);
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
    if (event.type === "hello" || this.seen.has(event.seq)) return;
    this.seen.add(event.seq);
    if (this.seen.size > REMEMBERED) this.seen.delete(this.seen.values().next().value);
    this.seq = Math.max(this.seq, event.seq);
    const subject = event.type.split(".")[0];
    const { data } = event;
    const id = subject === "approval" ? data.approval_id : data.session_id;
    if (subject === "approval") this.approval(event);
    announce(`icp:${subject}`, data);
    if (id) announce(`icp:${subject}-${spelt(id)}`, data);
  }

  // What came while the page was away has no rows: then the queue and the count are fetched once.
  approval({ type, data, pending, queue }) {
    if (pending === undefined) announce("icp:refresh");
    else announce("icp:queue", { pending, ...queue });
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
