import { AGENT_LIST } from '../agents';
import type { Preamble } from '../agents/types';
import { withoutEnvironment } from './environment';
import type { ApiMessage } from './types';

const joinForms = (pick: (preamble: Preamble) => readonly string[] | undefined): string =>
  [...new Set(AGENT_LIST.flatMap(({ preamble }) => pick(preamble) ?? []))].join('|');

/** An element without an end tag extends to the end, since the text was cut. */
const MACHINE_TEXT = new RegExp(
  `<(${joinForms(({ elements }) => elements)})(?=[\\s>])[^<>]*>(?:[\\s\\S]*?</\\1>|[\\s\\S]*$)`,
  'gi',
);

const MACHINE_OPENINGS: readonly RegExp[] = [...new Set(AGENT_LIST.flatMap(({ preamble }) => preamble.openings ?? []))];

const WRAPPER_PATTERN = `(?:${joinForms(({ wrappers }) => wrappers)})`;
const OPENING_WRAPPER = new RegExp(`^<${WRAPPER_PATTERN}(?: [^>]*)?>`);
const CLOSING_WRAPPER = new RegExp(`</${WRAPPER_PATTERN}>$`);

const MACHINE_FLAGS = ['addedByAgent', 'isMeta', 'isCompactSummary', 'isSummary', 'isTruncationMarker'];

export const isMachineMessage = (message: ApiMessage): boolean => MACHINE_FLAGS.some((flag) => message[flag] === true);

export function extractPersonText(text: string): string {
  const words = withoutEnvironment(text).replace(MACHINE_TEXT, ' ').trim();
  const rest = MACHINE_OPENINGS.reduce((left, opening) => left.replace(opening, ''), words).trim();
  return rest.replace(OPENING_WRAPPER, '').replace(CLOSING_WRAPPER, '').trim();
}

const MACHINE_REPORT = new RegExp(`^\\s*<(?:${joinForms(({ reports }) => reports)})[\\s>]`, 'i');

export const isReport = (text: string): boolean => MACHINE_REPORT.test(text) && extractPersonText(text) === '';
