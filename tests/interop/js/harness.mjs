// A test program in JavaScript that ./test counts like the others: it lists its tests with
// --gtest_list_tests and writes the report that --gtest_output=xml:FILE names.
import { writeFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

const tests = [];

export function test(name, body) {
  tests.push({ name, body });
}

const escape = (text) => text.replace(/[<>&"\n]/g, (c) => `&#${c.charCodeAt(0)};`);

export async function main(suite, { before, after, timeoutSeconds = 60 }) {
  const option = (prefix) => process.argv.find((a) => a.startsWith(prefix))?.slice(prefix.length);
  if (process.argv.includes("--gtest_list_tests")) {
    console.log(`${suite}.`);
    for (const { name } of tests) console.log(`  ${name}`);
    return;
  }
  const context = await before();
  const cases = [];
  let failures = 0;
  for (const { name, body } of tests) {
    const started = Date.now();
    let error;
    let timer;
    try {
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not done in ${timeoutSeconds} s`)), timeoutSeconds * 1000);
      });
      await Promise.race([body(context), late]);
    } catch (caught) {
      error = caught;
      failures += 1;
    } finally {
      clearTimeout(timer);
    }
    const seconds = (Date.now() - started) / 1000;
    console.log(`[ ${error ? "FAILED" : "    OK"} ] ${suite}.${name} (${seconds} s)`);
    if (error) console.log(error.stack ?? error);
    const failure = error ? `<failure message="${escape(String(error.stack ?? error))}"/>` : "";
    cases.push(`<testcase classname="${suite}" name="${name}" status="run" time="${seconds}">${failure}</testcase>`);
  }
  const file = option("--gtest_output=xml:");
  if (file) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `<testsuites><testsuite name="${suite}">${cases.join("\n")}</testsuite></testsuites>\n`);
  }
  await after(context);
  process.exit(failures ? 1 : 0);
}
