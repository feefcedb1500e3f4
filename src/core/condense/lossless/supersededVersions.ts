import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { listFileChanges } from '../../messages/fileChanges';
import { getFilePath } from '../../messages/fileParts';
import { makeFileKey } from '../../messages/filePath';
import { isFileNameParameter, getToolRule, type ToolTable } from '../../messages/tools';
import { isProtectedContent } from '../draft/exchanges';
import type { MechanicalStep } from '../draft/steps';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedGroups } from './settled';

const MIN_VERSION_CHARS = 160;

/**
 * Handles versions of a file that a later write replaced. The line steps handle a version whose
 * lines the newest version and edits contain. A reference replaces any other.
 */
export const createSupersededVersionsStep = (tools: ToolTable): MechanicalStep => {
  const name = 'Superseded versions of files';
  return {
    name,
    run(draft) {
      getVersionGroups(getLineCache(draft, tools)).forEachUnprocessedGroup(draft.exchanges, function* ({ items }) {
        const newestIndex = items.findLastIndex((exchange) => isWriteOfWholeFile(tools, exchange));
        if (newestIndex < 1) return;
        const newestLines = new Set(
          items.flatMap((exchange, index) =>
            index === newestIndex || getToolRule(tools, exchange)?.kind === 'edit'
              ? listWrittenLines(tools, exchange)
              : [],
          ),
        );
        const supersededByExchange = items
          .slice(0, newestIndex)
          .map((exchange) =>
            listFileVersions(tools, exchange).filter(
              (content) =>
                content.text.length >= MIN_VERSION_CHARS &&
                !isProtectedContent(draft, content) &&
                content.text.split('\n').some((line) => line.trim() !== '' && !newestLines.has(line)),
            ),
          );
        for (const [index, versions] of supersededByExchange.entries()) {
          let savedTokens = 0;
          for (const content of versions.toReversed()) {
            const { start, end } = content;
            savedTokens += draft.cutText(
              name,
              getContentPlace(content),
              [{ start, end, marker: SUPERSEDED_MARKER_TEXT }],
              {
                contentType: content.type,
                operation: 'cut',
                reason: 'the whole file was written anew later',
                strict: false,
              },
            );
          }
          yield savedTokens > 0 ? index : undefined;
        }
      });
    },
  };
};

const SUPERSEDED_MARKER_TEXT = 'older version, the file was written anew later';

const getVersionGroups = createMemoryPerLineCache(
  ({ tools }) =>
    new ProcessedGroups<ToolExchange>((exchange) => {
      const kind = getToolRule(tools, exchange)?.kind;
      if (exchange.isError || exchange.results.length === 0) return [];
      if (kind !== 'read' && kind !== 'write' && kind !== 'edit') return [];
      const path = getFilePath(tools, exchange);
      return path === undefined ? [] : [makeFileKey(path)];
    }),
);

const isWriteOfWholeFile = (tools: ToolTable, exchange: ToolExchange): boolean =>
  getToolRule(tools, exchange)?.kind === 'write' && listWrittenLines(tools, exchange).length > 0;

const listWrittenLines = (tools: ToolTable, exchange: ToolExchange): readonly string[] =>
  listFileChanges(tools, exchange).flatMap(({ before, after }) => [...before, ...after]);

function listFileVersions(tools: ToolTable, exchange: ToolExchange): readonly PlacedContent[] {
  switch (getToolRule(tools, exchange)?.kind) {
    case 'write':
      return exchange.parameters.filter((content) => !isFileNameParameter(content));
    case 'read':
      return exchange.results;
    default:
      return [];
  }
}
