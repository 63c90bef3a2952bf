// What axe-core finds on a page in both themes, of what keeps people from using it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// "light /ui/ color-contrast: <a ...> ...", one text for each rule that is broken.
export async function violations(page, where) {
  await page.emulateMedia({ reducedMotion: "reduce" });  // colours change at once with the theme
  await page.evaluate(`(() => { ${axe}; })()`);
  const found = [];
  for (const theme of ["dark", "light"]) {
    const result = await page.evaluate((chosen) => {
      document.documentElement.dataset.theme = chosen;
      return window.axe.run(document, { resultTypes: ["violations"] });
    }, theme);
    for (const one of result.violations) if (["serious", "critical"].includes(one.impact))
      found.push(`${theme} ${where} ${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
  }
  return found;
}
