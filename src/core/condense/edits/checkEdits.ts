import { hashText } from '../../hash';
import type { Violation } from '../../messages/firewall';
import { getValueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import type { BlockEdit, Cut, CutEdit, Edit, SummaryEdit } from './edits';
import { findMarkers } from '../../messages/markers';

export function checkEdits(original: readonly ApiMessage[], edits: readonly Edit[]): Violation[] {
  return edits.flatMap((edit) => {
    if (edit.kind === 'summary') return checkSummaryEdit(edit);
    if (edit.kind === 'block') return checkBlockEdit(edit);
    const text = getValueAt(original[edit.place.message], edit.place.path);
    return typeof text === 'string' ? checkCutEdit(text, edit) : [];
  });
}

function checkSummaryEdit({ start, end, before, reference }: SummaryEdit): Violation[] {
  if (!(start >= 0 && end > start)) {
    return [{ rule: 'cuts-in-order', message: start, detail: `the summary from ${start} to ${end} is of nothing` }];
  }
  return before.startsWith(reference)
    ? []
    : [
        {
          rule: 'reference-valid',
          message: start,
          detail: `the reference ${reference} is not that of what was summarized`,
        },
      ];
}

function checkBlockEdit({ before, placeholder, place: { message } }: BlockEdit): Violation[] {
  if (!placeholder) return [];
  const { reference, text } = placeholder;
  if (before.startsWith(reference) && findMarkers(text).some((found) => found.reference === reference)) return [];
  return [
    { rule: 'reference-valid', message, detail: `the reference ${reference} is not that of the block it stands for` },
  ];
}

function checkCutEdit(text: string, { place: { message }, cuts }: CutEdit): Violation[] {
  let lastEnd = 0;
  for (const cut of cuts) {
    if (!(cut.start >= lastEnd && cut.end >= cut.start && cut.end <= text.length)) {
      const detail = `the cut from ${cut.start} to ${cut.end} overlaps another or lies outside the text`;
      return [{ rule: 'cuts-in-order', message, detail }];
    }
    lastEnd = cut.end;
  }
  return cuts
    .filter((cut) => !isCutExpandable(text, cut))
    .map(({ reference }) => ({
      rule: 'reference-valid',
      message,
      detail: `the reference ${reference ?? ''} is not that of what it stands for`,
    }));
}

const isCutExpandable = (text: string, { start, end, text: shown, reference }: Cut): boolean =>
  reference === undefined ||
  (hashText(text.slice(start, end)).startsWith(reference) &&
    findMarkers(shown).some((found) => found.reference === reference));
