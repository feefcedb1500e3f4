import { expect, it } from 'vitest';
import type { LineNumberForm } from '../../agents/types';
import { makeToolExchange, user } from '../../testing';
import { findNeededLines } from '../futureNeed/neededLater';

const LINES = [
  'export const first = prepare(1);',
  'export const second = prepare(2);',
  'export const third = prepare(3);',
];

/** Prints a file's line in each form that agents' tools use. */
const PRINTED: Readonly<Record<LineNumberForm, (line: string, number: number) => string>> = {
  arrow: (line, number) => `${String(number).padStart(6)}→${line}`,
  tab: (line, number) => `${String(number).padStart(6)}\t${line}`,
  pipe: (line, number) => `${number} | ${line}`,
  bar: (line, number) => `${String(number).padStart(5)}|${line}`,
  colon: (line, number) => `${number}: ${line}`,
  dot: (line, number) => `${number}. ${line}`,
  L: (line, number) => `L${number}: ${line}`,
  box: (line, number) => `${String(number).padStart(4)} │ ${line}`,
};

it.each(Object.entries(PRINTED))('an edited line is found in a read with line numbers of the form "%s"', (_, print) => {
  const read = LINES.map((line, at) => print(line, at + 1)).join('\n');
  const messages = [
    user('Mend it'),
    ...makeToolExchange('r', 'Read', { file_path: '/w/a.ts' }, read),
    ...makeToolExchange('e', 'Edit', { file_path: '/w/a.ts', old_string: LINES[1], new_string: 'gone' }, 'ok'),
  ];
  const needed = findNeededLines(messages, 3, messages.length);
  expect(needed.map(({ line }) => line)).toEqual([LINES[1]]);
});
