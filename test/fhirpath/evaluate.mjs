// Evaluates FHIRPath with the npm package fhirpath. Each line of the standard
// input is JSON: {"resource": …} says what the expressions after it are
// evaluated on, {"expression": "…"} is one. The answer to each expression is a
// line: {"result": […]} or {"error": "…"}.
import { createInterface } from "node:readline";
import fhirpath from "fhirpath";
import r4 from "fhirpath/fhir-context/r4";

const compiled = new Map();
let resource;
const answers = [];
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.resource !== undefined) {
    resource = asked.resource;
    continue;
  }
  let answer;
  try {
    let evaluate = compiled.get(asked.expression);
    if (evaluate === undefined) {
      evaluate = fhirpath.compile(asked.expression, r4, { preciseMath: true, traceFn: () => {} });
      compiled.set(asked.expression, evaluate);
    }
    const result = evaluate(resource, { resource, rootResource: resource });
    answer = { result: result.filter((item) => item !== null && item !== undefined) };
  } catch (error) {
    answer = { error: String(error.message ?? error).slice(0, 200) };
  }
  answers.push(JSON.stringify(answer));
}
process.stdout.write(answers.join("\n") + "\n");
