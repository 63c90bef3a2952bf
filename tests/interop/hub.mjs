// Starts `evenkeel dev` for a test, and ends it by its process id; keeps account of all children.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, existsSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Children end when we do, however that happens, but for SIGKILL.
const children = new Set();
export function endWithUs(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

export class Hub {
  constructor(binary) {
    this.binary = binary;
    this.folder = mkdtempSync(join(tmpdir(), "evenkeel-interop-"));
    this.data = join(this.folder, "data");
    this.certificate = join(this.folder, "certificate.pem");
    this.port = 0;
  }

  // Starts on a free port, or again on the one it had.
  async start(...more) {
    const ready = join(this.folder, "ready.json");
    rmSync(ready, { force: true });
    const args = ["dev", "--data", this.data, "--port", String(this.port), "--http-port", "0", "--tls-port", "0",
      "--https-port", "0", "--certificate-file", this.certificate, "--ready-file", ready,
      "--hub", "eh1:4", "--hub", "eh2:2", ...more];
    this.process = endWithUs(spawn(this.binary, args, { stdio: ["ignore", "ignore", "inherit"] }));
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    const failed = this.ended.then((code) => { throw new Error(`the hub ended with ${code}`); });
    failed.catch(() => {});
    await Promise.race([fileThere(this.folder, ready), failed]);
    Object.assign(this, JSON.parse(readFileSync(ready, "utf8")));
    this.port = this.amqp_port;
  }

  async kill(signal = "SIGKILL") {
    this.process.kill(signal);
    return this.ended;
  }

  async remove() {
    await this.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  connectionString(extra = "UseDevelopmentEmulator=true;") {
    return `Endpoint=sb://localhost:${this.port};SharedAccessKeyName=RootManageSharedAccessKey;` +
      `SharedAccessKey=SAS_KEY_VALUE;${extra}`;
  }
}

// Resolves when the file has been put in place; it is renamed there, so it is whole.
function fileThere(folder, file) {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => { if (existsSync(file)) { watcher.close(); resolve(); } });
    if (existsSync(file)) { watcher.close(); resolve(); }
  });
}
