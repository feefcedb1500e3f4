import type { Edit } from '../core/condense/edits/edits';
import type { LedgerEntry } from '../core/condense/ledger/ledger';
import { hashText, type Hash } from '../core/hash';
import type { Files, OpenFile } from './files';
import { nodeFiles } from './nodeFiles';
import type { LockTiming } from './lock';

/** This timing removes silent locks quickly. */
export const QUICK_LOCK_TIMING: LockTiming = { wait: 30_000, silence: 150, heartbeat: 20 };

export interface FileStep {
  readonly operation: 'open' | 'write' | 'truncate' | 'sync' | Exclude<keyof Files, 'open'>;
  readonly path: string;
}

/** Calls `onStep` before every modifying step. A write also has a step in its middle. */
export function createSteppedFiles(onStep: (step: FileStep) => void, inner: Files = nodeFiles): Files {
  const wrapMethod =
    <Rest extends readonly unknown[], T>(
      operation: FileStep['operation'],
      action: (path: string, ...rest: Rest) => Promise<T>,
    ) =>
    async (path: string, ...rest: Rest): Promise<T> => {
      onStep({ operation, path });
      return action(path, ...rest);
    };
  return {
    ...inner,
    open: async (path, mode) => {
      if (mode !== 'read') onStep({ operation: 'open', path });
      return createSteppedFile(path, onStep, await inner.open(path, mode));
    },
    makeFolder: wrapMethod('makeFolder', inner.makeFolder),
    syncFolder: wrapMethod('syncFolder', inner.syncFolder),
    rename: wrapMethod('rename', inner.rename),
    removeFile: wrapMethod('removeFile', inner.removeFile),
    removeEmptyFolder: wrapMethod('removeEmptyFolder', inner.removeEmptyFolder),
    removeFolder: wrapMethod('removeFolder', inner.removeFolder),
  };
}

function createSteppedFile(path: string, onStep: (step: FileStep) => void, file: OpenFile): OpenFile {
  let isSecondHalf = true;
  return {
    ...file,
    write: async (bytes) => {
      onStep({ operation: 'write', path });
      isSecondHalf = !isSecondHalf;
      return file.write(isSecondHalf ? bytes : bytes.subarray(0, Math.ceil(bytes.length / 2)));
    },
    truncate: async (length) => {
      onStep({ operation: 'truncate', path });
      await file.truncate(length);
    },
    sync: async () => {
      onStep({ operation: 'sync', path });
      await file.sync();
    },
  };
}

export const createSystemError = (code: string): Error => Object.assign(new Error(`${code}: made by a test`), { code });

const makeEdit = (text: string, index: number, condensation: string): Edit => ({
  kind: 'cut',
  id: `${condensation}-${index}` as Edit['id'],
  place: { message: index, path: ['content'] },
  contentType: 'toolResults',
  operation: 'cut',
  before: hashText(text),
  cuts: [{ start: 0, end: text.length, text: '' }],
  step: 'test',
  reason: 'for a test',
  strict: true,
  tokensBefore: 2,
  tokensAfter: 1,
});

export const makeCondensedEntry = (id: string, texts: readonly string[]): LedgerEntry => ({
  type: 'condensed',
  condensation: {
    id: id as never,
    at: '2026-01-02T03:04:05.000Z',
    provider: 'lossless',
    base: 'view',
    edits: texts.map((text, index) => makeEdit(text, index, id)),
    steps: [],
    tokensBefore: 2,
    tokensAfter: 1,
    cost: 0,
    viewHash: hashText(`view of ${id}`),
  },
});

export const makeUndoneEntry = (id: string): LedgerEntry => ({ type: 'undone', condensation: id as never });

export const makeExcludedEntry = (id: string, index: number): LedgerEntry => ({
  type: 'excluded',
  condensation: id as never,
  edit: `${id}-${index}` as never,
});

export const makeOriginals = (texts: readonly string[]): Map<Hash, string> =>
  new Map(texts.map((text) => [hashText(text), text]));
