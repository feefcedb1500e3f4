/** Generates what agents and people write about code. */
import type { Random } from './random';
import { adjective, capitalized, functionName, noun, typeName, variableName, verb } from './vocabulary';

const SENTENCES: readonly ((random: Random) => string)[] = [
  (random) =>
    `The ${noun(random)} in \`${functionName(random)}\` is ${adjective(random)} when the ${noun(random)} was ${verb(random)}ed twice.`,
  (random) =>
    `I should check how \`${typeName(random)}\` handles a ${adjective(random)} ${noun(random)} before I change the ${noun(random)}.`,
  (random) =>
    `There are ${random.between(2, 9)} callers of \`${functionName(random)}\`, and all but one pass a ${adjective(random)} ${variableName(random)}.`,
  (random) =>
    `That means the ${noun(random)} has to ${verb(random)} its ${noun(random)} first, otherwise \`${variableName(random)}\` stays ${adjective(random)}.`,
  (random) =>
    `The test for the ${adjective(random)} ${noun(random)} fails with ${random.between(2, 40)} instead of ${random.between(41, 99)}, so the ${noun(random)} is off.`,
  (random) =>
    `Next I will ${verb(random)} the ${noun(random)} and then ${verb(random)} \`${variableName(random)}\` in ${noun(random)}/${noun(random)}.`,
  (random) =>
    `It would be simpler to ${verb(random)} the ${adjective(random)} ${noun(random)} in one place and let \`${functionName(random)}\` use it.`,
  (random) =>
    `Nothing else reads \`${variableName(random)}\`, so ${verb(random)}ing it is safe as long as the ${noun(random)} is not ${adjective(random)}.`,
  (random) =>
    `${capitalized(verb(random))} the ${noun(random)} only where the ${adjective(random)} ${noun(random)} asks for it, please.`,
];

/** Generates paragraphs with about this many characters at most. */
export function prose(random: Random, chars: number): string {
  let text = '';
  while (text.length < chars) {
    const separator = text === '' ? '' : random.chance(0.15) ? '\n\n' : ' ';
    text += separator + random.pick(SENTENCES)(random);
  }
  return text;
}

/** Generates a subagent's report with headings, lists and paths. */
export function makeReport(random: Random, paths: readonly string[], chars: number): string {
  let reportText = `## Findings on the ${adjective(random)} ${noun(random)}\n`;
  while (reportText.length < chars) {
    reportText +=
      paths.length === 0 || random.chance(0.25)
        ? `\n### ${capitalized(noun(random))} ${noun(random)}\n\n`
        : `- \`${random.pick(paths)}:${random.between(3, 400)}\`: ${random.pick(SENTENCES)(random)}\n`;
  }
  return reportText;
}
