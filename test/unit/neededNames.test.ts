import { expect, it } from 'vitest';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { createCutEdit } from '../../src/core/condense/report/testing';
import type { ReferenceId } from '../../src/core/messages/markers';
import { assistant, makeTestMarker, user } from '../../src/core/testing';
import { KeptNames } from '../bench/neededNames';

const TEXT = 'const alphaBeta = 1;\nconst gammaDelta = 2;\nconst etaTheta = 3;';

it('names and paths count as kept, recallable or lost', () => {
  const start = TEXT.indexOf('const gamma');
  const cut = {
    start,
    end: TEXT.indexOf('\nconst eta'),
    text: makeTestMarker('1 line'),
    reference: 'abcdef' as ReferenceId,
  };
  const conversation = [user(TEXT), assistant('done')];
  const view = applyEdits(conversation, [createCutEdit(conversation, 0, ['content'], [cut])]);
  const kept = new KeptNames(view, new NeededLineChecker(view));
  const outcomes = ['verbatim', 'recallable', 'lost'];
  expect(['alphaBeta', 'gammaDelta', 'neverSeen'].map((name) => kept.name(name))).toEqual(outcomes);
  expect(['alphaBeta = 1', 'gammaDelta = 2', '/never/seen'].map((path) => kept.path(path))).toEqual(outcomes);
});
