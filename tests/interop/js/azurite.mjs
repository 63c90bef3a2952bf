// The blob emulator for a test, on a free port.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { endWithUs } from "../hub.mjs";

const account = "devstoreaccount1";
// Azurite's published development key.
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

// Its process, and its connection string.
export async function startAzurite() {
  const script = join(dirname(createRequire(import.meta.url).resolve("azurite/package.json")), "dist/src/blob/main.js");
  const child = endWithUs(spawn(process.execPath, [script, "--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence",
    "--disableTelemetry", "--skipApiVersionCheck", "--silent"], { stdio: ["ignore", "pipe", "inherit"] }));
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /listen\w* (?:at|on) https?:\/\/[^:]+:(\d+)/i.exec(text);
      if (found) resolve(Number(found[1]));
    });
    child.once("exit", (code) => reject(new Error(`azurite ended with ${code}: ${text}`)));
  });
  return { child, storage: `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};` +
    `BlobEndpoint=http://127.0.0.1:${port}/${account};` };
}
