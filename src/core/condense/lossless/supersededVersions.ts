import { getPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { listFileChanges } from '../../messages/fileChanges';
import { getFilePath } from '../../messages/fileParts';
import { makeFileKey } from '../../messages/filePath';
import { isNameOfFile, ruleFor, type ToolTable } from '../../messages/tools';
import { protectedFrom } from '../draft/exchanges';
import type { MechanicalStep } from '../draft/steps';
import { takeKnownLines, stepMemory } from './knownLines';
import { Groups } from './settled';

/** Shorter texts are not worth a marker. */
const MIN_CHARS = 160;

/**
 * Versions of a file that a later write of the whole file replaced. If the newest version and edits
 * of the file contain all of a version's lines, the line steps take care of it; otherwise its text
 * is replaced by a reference.
 */
export const supersededVersions = (tools: ToolTable): MechanicalStep => {
  const name = 'Superseded versions of files';
  return {
    name,
    run(draft) {
      versions(takeKnownLines(draft, tools)).each(draft.exchanges, function* ({ items }) {
        const newest = items.findLastIndex((exchange) => isWholeWrite(tools, exchange));
        if (newest < 1) return;
        const standing = new Set(
          items.flatMap((exchange, index) =>
            index === newest || ruleFor(tools, exchange)?.kind === 'edit' ? linesWritten(tools, exchange) : [],
          ),
        );
        const goes = items
          .slice(0, newest)
          .map((exchange) =>
            findVersions(tools, exchange).filter(
              (content) =>
                content.text.length >= MIN_CHARS &&
                !protectedFrom(draft, content) &&
                content.text.split('\n').some((line) => line.trim() !== '' && !standing.has(line)),
            ),
          );
        for (const [index, versions] of goes.entries()) {
          let saved = 0;
          for (const content of versions.toReversed()) {
            const { start, end } = content;
            saved += draft.cut(name, getPlace(content), [{ start, end, marker: MARKER }], {
              contentType: content.type,
              operation: 'cut',
              reason: 'the whole file was written anew later',
              strict: false,
            });
          }
          yield saved > 0 ? index : undefined;
        }
      });
    },
  };
};

const MARKER = 'older version, the file was written anew later';

/** Everything that shows or changes a file, by file. */
const versions = stepMemory(
  ({ tools }) =>
    new Groups<ToolExchange>((exchange) => {
      const kind = ruleFor(tools, exchange)?.kind;
      if (exchange.isError || exchange.results.length === 0) return [];
      if (kind !== 'read' && kind !== 'write' && kind !== 'edit') return [];
      const path = getFilePath(tools, exchange);
      return path === undefined ? [] : [makeFileKey(path)];
    }),
);

const isWholeWrite = (tools: ToolTable, exchange: ToolExchange): boolean =>
  ruleFor(tools, exchange)?.kind === 'write' && linesWritten(tools, exchange).length > 0;

const linesWritten = (tools: ToolTable, exchange: ToolExchange): readonly string[] =>
  listFileChanges(tools, exchange).flatMap(({ before, after }) => [...before, ...after]);

/** What the exchange wrote or read of the file. */
function findVersions(tools: ToolTable, exchange: ToolExchange): readonly PlacedContent[] {
  switch (ruleFor(tools, exchange)?.kind) {
    case 'write':
      return exchange.parameters.filter((content) => !isNameOfFile(content));
    case 'read':
      return exchange.results;
    default:
      return [];
  }
}
