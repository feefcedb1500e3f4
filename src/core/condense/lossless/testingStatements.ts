/** Verifies what markers state, independently of the code that made them. */
import type { Hash } from '../../hash';
import { listToolExchanges, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { getCommandOfCall, DEFAULT_TOOLS, getToolPath } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { getOriginalText, type Edit } from '../edits/edits';
import { expandReference, collectReferences } from '../edits/references';
import { findMarkers, type ReferenceId } from '../../messages/markers';

interface ReadableViewLine {
  readonly text: string;
  readonly number: number | undefined;
  readonly marker: { readonly what: string; readonly reference: ReferenceId } | undefined;
}

interface ViewText {
  readonly exchange: ToolExchange;
  readonly content: PlacedContent;
  readonly lines: readonly ReadableViewLine[];
}

type ReadableLineSet = ReadonlySet<string>;

const NUMBER_PREFIX = /^ {0,11}([1-9]\d*)(?:→|\t| \| )/;
const SEARCH_PREFIX = /^(?:[^\s:][^:\n]*?[:-])?([1-9]\d*)[:-]/;
const LINE_RANGE = /(\d+)(?:-(\d+))?/;

const listLineReadings = (line: string): string[] => [
  line,
  line.replace(NUMBER_PREFIX, ''),
  line.replace(SEARCH_PREFIX, ''),
];

const getLineEndPattern = (text: string): RegExp => (/^\s*[[{]/.test(text) ? /(?<=(?<!\\)(?:\\\\)*)\\n|\n/ : /\n/);

/** A separate operation removes reminders, so a marker may cover one. */
const REMINDERS_AT_END = /(?:\s*<system-reminder>[\s\S]*?<\/system-reminder>)+\s*$/;

/** @returns a sentence for each false marker */
export function findFalseMarkerStatements(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  edits: readonly Edit[],
): string[] {
  const viewTexts = listToolExchanges(view).flatMap((exchange) =>
    [...exchange.parameters, ...exchange.results].map((content): ViewText => ({
      exchange,
      content,
      lines: splitViewLines(content.text),
    })),
  );
  const references = collectReferences(edits);
  const originals = new Map<Hash, string>();
  for (const edit of edits) {
    if (edit.kind === 'cut') originals.set(edit.before, getOriginalText(original, edit) ?? '');
  }
  return viewTexts.flatMap((text) =>
    text.lines.flatMap(({ marker }) => {
      if (!marker || !/ lines?\b.*, shown |^lines? .*, shown /.test(marker.what)) return [];
      const referencedContent = references.get(marker.reference);
      if (!referencedContent) return [`${marker.what}: its reference is unknown`];
      const expandedText = expandReference(referencedContent, (hash) => originals.get(hash)).replace(
        REMINDERS_AT_END,
        '',
      );
      const missingLines = expandedText.split(getLineEndPattern(originals.get(referencedContent.before) ?? ''));
      const readableLines = readMarkerStatement(viewTexts, text, marker.what, new Set());
      const lostLine = missingLines.find(
        (line) => line.trim() !== '' && !listLineReadings(line).some((each) => readableLines.has(each)),
      );
      if (lostLine !== undefined) return [`message ${text.content.message}, "${marker.what}": no line ${lostLine}`];
      const statedRange = /^(\d+) lines?|^lines? (\d+)(?:-(\d+))?/.exec(marker.what);
      const count = statedRange?.[1]
        ? Number(statedRange[1])
        : Number(statedRange?.[3] ?? statedRange?.[2]) - Number(statedRange?.[2]) + 1;
      return count === missingLines.length ? [] : [`"${marker.what}": ${missingLines.length} lines are missing`];
    }),
  );
}

function splitViewLines(text: string): ReadableViewLine[] {
  let number: number | undefined;
  return text.split(getLineEndPattern(text)).map((line) => {
    const [marker] = findMarkers(line.replaceAll('\\"', '"'));
    const statedNumber = marker
      ? /^lines? (?:\d+-)?(\d+)/.exec(marker.what)?.[1]
      : (NUMBER_PREFIX.exec(line) ?? SEARCH_PREFIX.exec(line))?.[1];
    number =
      statedNumber === undefined ? (marker || number === undefined ? undefined : number + 1) : Number(statedNumber);
    return { text: line, number, marker };
  });
}

function readMarkerStatement(
  viewTexts: readonly ViewText[],
  markerText: ViewText,
  what: string,
  seen: Set<string>,
): ReadableLineSet {
  const readableLines = new Set<string>();
  const markerLineNumbers = /^lines? (\d+(?:-\d+)?)/.exec(what)?.[1];
  const statedFile = /^[^,]*? of ([^,]+), shown /.exec(what)?.[1];
  const places = what.slice(what.indexOf(', shown ') + ', shown '.length).replace(/; never .*/, '');
  for (const place of places.split(/ and (?=later|above|in )/)) {
    const range = / (?:as|within) (\d+(?:-\d+)?)$| \((?:within )?lines? (\d+(?:-\d+)?)\)$/.exec(place);
    const lineNumbers = range?.[1] ?? range?.[2] ?? (/^(?:later|above)$/.test(place) ? markerLineNumbers : undefined);
    for (const text of viewTexts) {
      if (!isPlaceMeant(place.slice(0, range?.index ?? place.length), text, markerText, statedFile)) continue;
      for (const line of text.lines) {
        if (!isLineInRange(line, lineNumbers)) continue;
        for (const lineReading of listLineReadings(line.text)) readableLines.add(lineReading);
        if (!line.marker || seen.has(line.marker.reference)) continue;
        seen.add(line.marker.reference);
        for (const lineReading of readMarkerStatement(viewTexts, text, line.marker.what, seen))
          readableLines.add(lineReading);
      }
    }
  }
  return readableLines;
}

function isLineInRange(line: ReadableViewLine, numbers: string | undefined): boolean {
  const range = numbers === undefined ? undefined : LINE_RANGE.exec(numbers);
  if (!range) return true;
  const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];
  const markerRange = line.marker && /^lines? (\d+)(?:-(\d+))?/.exec(line.marker.what);
  if (markerRange) return Number(markerRange[1]) <= last && Number(markerRange[2] ?? markerRange[1]) >= first;
  if (line.marker) return true;
  return line.number !== undefined && line.number >= first && line.number <= last;
}

const getNamedFile = ({ exchange }: ViewText): string | undefined =>
  getToolPath(DEFAULT_TOOLS, exchange) ?? /[\w./-]+\.\w+$/.exec(getCommandOfCall(exchange) ?? '')?.[0];

function isPlaceMeant(place: string, text: ViewText, markerText: ViewText, file: string | undefined): boolean {
  const isResult = text.content.type === 'toolResults';
  const name = String(text.content.path.at(-1));
  if (place === 'in its result' || place === 'in the same result')
    return text.exchange === markerText.exchange && isResult;
  if (/^in (?:the call’s )?\w+$/.test(place)) {
    return text.exchange === markerText.exchange && !isResult && place.endsWith(name);
  }
  if (text === markerText) return false;
  const laterOrAbove = isLaterText(text, markerText) ? 'later' : 'above';
  if (!place.split(' ').includes(laterOrAbove)) return false;
  const path = getToolPath(DEFAULT_TOOLS, text.exchange);
  if (/^(?:later|above)/.test(place)) {
    const namedFile = file ?? getNamedFile(markerText);
    return (
      namedFile !== undefined &&
      (getNamedFile(text)?.replaceAll('\\', '/').endsWith(namedFile.replaceAll('\\', '/')) === true ||
        namedFile.endsWith(getNamedFile(text) ?? '\0'))
    );
  }
  const namedCall = place.replace(/^in the (?:later )?/, '').replace(/ above$/, '');
  if (!namedCall.startsWith(text.exchange.tool)) return false;
  const [, asked, named] = /^\S+ (?:"(.*?)…?"|of (.*))$/s.exec(namedCall) ?? [];
  if (named !== undefined) return path?.replaceAll('\\', '/').endsWith(named) === true;
  if (asked === undefined) return namedCall === text.exchange.tool;
  return Object.values(text.exchange.input).some((value) =>
    toMarkerText(String(value)).includes(asked.split(', ')[0] ?? ''),
  );
}

const toMarkerText = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

const isLaterText = ({ content: a }: ViewText, { content: b }: ViewText): boolean =>
  a.message > b.message || (a.message === b.message && Number(a.path[1] ?? 0) > Number(b.path[1] ?? 0));
