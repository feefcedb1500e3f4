import {
  isAnyThinking,
  isImage,
  isRecord,
  isText,
  isToolResult,
  isToolUse,
  toBlocks,
} from '../../core/messages/blocks';
import type { ApiMessage, Block, ToolUseBlock } from '../../core/messages/types';
import { stringifyValue } from '../text/values';
import type { ExportLosses } from './losses';
import { renderSystemText } from './system';
import { getResultText } from './turns';
import type { ConversationToExport } from './types';

export function exportToMarkdown({ title, messages, request }: ConversationToExport, losses: ExportLosses): string {
  const toolNameByCallId = new Map<string, string>();
  const prompt = renderSystemText(request, []);
  const sections = messages.map((message, index) => {
    const blocks = toBlocks(message);
    for (const block of blocks) if (isToolUse(block)) toolNameByCallId.set(block.id, block.name);
    const blockTexts = blocks
      .map((block) => renderBlock(block, toolNameByCallId, losses))
      .filter((text) => text !== '');
    const summary = message['isSummary'] === true || message['isCompactSummary'] === true ? ', summary' : '';
    return [`## ${index + 1} · ${ROLE_LABELS[message.role]}${summary}`, ...blockTexts].join('\n\n');
  });
  const system = prompt === '' ? [] : [renderFoldedDetails('System prompt', fenceText(prompt))];
  return `${[`# ${escapeInline(title)}`, ...system, ...sections].join('\n\n')}\n`;
}

const ROLE_LABELS: Readonly<Record<ApiMessage['role'], string>> = {
  user: 'User',
  assistant: 'Assistant',
  system: 'System',
};

function renderBlock(block: Block, names: ReadonlyMap<string, string>, losses: ExportLosses): string {
  if (isText(block)) return block.text.trim();
  if (isToolUse(block)) return `**${escapeInline(block.name)}**\n\n${renderParameters(block)}`;
  if (isToolResult(block)) {
    const name = escapeInline(names.get(block.tool_use_id) ?? 'a tool');
    const text = getResultText(block);
    const lineCount = text === '' ? 0 : text.split('\n').length;
    const images = Array.isArray(block.content) ? (block.content as readonly Block[]).filter(isImage) : [];
    const renderedImages = images.map((image) => renderImage(image, losses));
    const size = `${lineCount} ${lineCount === 1 ? 'line' : 'lines'}`;
    return [
      renderFoldedDetails(`${block.is_error === true ? 'Error' : 'Result'} of ${name}, ${size}`, fenceText(text)),
      ...renderedImages,
    ].join('\n\n');
  }
  if (isAnyThinking(block)) return renderThinking(block, losses);
  if (isImage(block)) return renderImage(block, losses);
  return renderFoldedDetails(escapeInline(block.type), fenceText(JSON.stringify(block, null, 2), 'json'));
}

function renderThinking(block: Block, losses: ExportLosses): string {
  const text = stringifyValue(block['thinking']).trim();
  if (text !== '') return renderFoldedDetails('Thinking', fenceText(text));
  losses.addLoss('thought', 'left out (encrypted)');
  return '';
}

/** Inline bytes would make the text unreadable, so only images with a URL are shown. */
function renderImage({ source }: Block, losses: ExportLosses): string {
  if (isRecord(source)) {
    const { url, media_type: type, data } = source;
    if (typeof url === 'string' && /^https?:\/\/[^\s()<>]+$/.test(url)) return `![image](${url})`;
    losses.addLoss('image', 'named, not shown');
    if (typeof data === 'string')
      return `*[${escapeInline(stringifyValue(type))}, ${Math.ceil((data.length * 3) / 4 / 1024)} KB]*`;
  } else losses.addLoss('image', 'named, not shown');
  return '*[image]*';
}

function renderParameters({ input }: ToolUseBlock): string {
  if (!isRecord(input)) return fenceText(JSON.stringify(input ?? null), 'json');
  const entries = Object.entries(input);
  const isLong = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');
  const shortEntries = entries.filter(([, value]) => !isLong(value));
  return [
    ...(shortEntries.length > 0 ? [fenceText(JSON.stringify(Object.fromEntries(shortEntries), null, 2), 'json')] : []),
    ...entries.flatMap(([name, value]) => (isLong(value) ? [`${escapeInline(name)}:\n\n${fenceText(value)}`] : [])),
  ].join('\n\n');
}

/** The fence is longer than any in the text, so that the text can't end it. */
function fenceText(text: string, language = ''): string {
  const longestTickRun = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(Math.max(3, longestTickRun + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

const renderFoldedDetails = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** Names come from files, so no Markdown in them may take effect. */
const escapeInline = (text: string): string =>
  text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\\`*_[\]<>#&]/g, (mark) => (mark === '<' ? '&lt;' : mark === '&' ? '&amp;' : `\\${mark}`));
