/**
 * Shows removed content in folds at its place. Folds are the browser's own, so that keys and screen
 * readers work without a script.
 */
import { renderHtml, type SafeHtml } from './html';
import { isRecord, isText, isThinking, isToolResult, isToolUse } from '../core/messages/blocks';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import type { ApiMessage, Block, Path } from '../core/messages/types';
import { maskSecrets } from '../core/secrets/maskSecrets';
import { selectLastEditPerPlace, makePlaceKey, type CutEdit, type Edit } from '../core/condense/edits/edits';
import { formatTokens } from '../core/format';
import { getSpeakerLabel } from '../core/messages/render';
import { describeBlock, renderMaskedConversation } from './reportPage';
import { renderPage } from './page';

export interface ConversationForReading {
  readonly title: string;
  readonly original: readonly ApiMessage[];
  readonly edits: readonly Edit[];
}

interface ReadingOptions {
  /** Nonce of the page's style, the only one that is allowed. */
  readonly nonce: string;
}

/** Masks secrets in whole strings before truncating them. */
export function renderReadingPage(subject: ConversationForReading, { nonce }: ReadingOptions): string {
  const { title, original, edits } = subject;
  const lastEdits = selectLastEditPerPlace(edits);
  const reader = new ReadingPageRenderer(original, lastEdits);
  const sections: SafeHtml[] = [];
  for (let index = 0; index < original.length;) {
    const { section, next } = reader.renderMessageOrSummary(index);
    sections.push(section);
    index = next;
  }
  const links = reader.changedMessages.map(
    ({ id, label }) => renderHtml`<li><a href="#${id}" title="${label}">${label}</a></li>`,
  );
  return renderPage(
    maskSecrets(title),
    renderHtml`<h1>${maskSecrets(title)}</h1>
      <p>
        ${original.length} messages after condensing. Markers show where something was removed; open one to read what
        was there. Keys are masked.
      </p>
      ${
        links.length === 0
          ? renderHtml`<p>Nothing was removed.</p>`
          : renderHtml`<details>
              <summary>${links.length} ${links.length === 1 ? 'message' : 'messages'} with something removed</summary>
              <ol>
                ${links}
              </ol>
            </details>`
      }
      ${sections}`,
    nonce,
  );
}

interface ChangedMessage {
  readonly id: string;
  readonly label: string;
}

class ReadingPageRenderer {
  readonly changedMessages: ChangedMessage[] = [];
  private readonly editByPlace = new Map<string, Edit>();
  private readonly summaries = new Map<number, Extract<Edit, { kind: 'summary' }>>();
  private readonly toolNameByCallId = new Map<string, string>();

  constructor(
    private readonly original: readonly ApiMessage[],
    edits: readonly Edit[],
  ) {
    for (const edit of edits) {
      if (edit.kind === 'summary') this.summaries.set(edit.start, edit);
      else this.editByPlace.set(makePlaceKey(edit.place), edit);
    }
    for (const { content } of original) {
      if (typeof content === 'string') continue;
      for (const block of content) if (isToolUse(block)) this.toolNameByCallId.set(block.id, block.name);
    }
  }

  /** @returns the section and the index of the next message to render */
  renderMessageOrSummary(index: number): { readonly section: SafeHtml; readonly next: number } {
    const summary = this.summaries.get(index);
    if (!summary) return { section: this.renderMessage(index), next: index + 1 };
    const { start, end, message } = summary;
    const label = `Messages ${start + 1} to ${end}`;
    this.changedMessages.push({ id: getMessageId(index), label: `${label}: a summary` });
    const replacedText = renderMaskedConversation(this.original.slice(start, end));
    const section = renderHtml`<section id="${getMessageId(index)}">
      <h2>${label} <span class="size">summary</span></h2>
      <div class="text"><ins>${renderMaskedConversation([message], [SUMMARY_ORIGIN])}</ins></div>
      ${renderFoldedText(renderHtml`${label}, which it replaced`, replacedText)}
    </section>`;
    return { section, next: Math.max(end, index + 1) };
  }

  private renderMessage(index: number): SafeHtml {
    const message = this.original[index];
    if (!message) return renderHtml``;
    const { content } = message;
    const speaker = getSpeakerLabel(message);
    const removedCountBefore = this.removedCount;
    const body =
      typeof content === 'string'
        ? this.renderTextValue(index, ['content'], content)
        : content.map((block, blockIndex) => this.renderBlock(index, ['content', blockIndex], block));
    const id = getMessageId(index);
    const count = this.removedCount - removedCountBefore;
    if (count > 0) {
      this.changedMessages.push({ id, label: `Message ${index + 1} · ${speaker}: ${formatTokens(count)} characters` });
    }
    return renderHtml`<section id="${id}">
      <h2>${index + 1} <span class="${CLASS_BY_SPEAKER[speaker] ?? 'size'}">${speaker}</span></h2>
      ${body}
    </section>`;
  }

  /** Number of characters removed so far. */
  private removedCount = 0;

  private renderBlock(message: number, path: Path, block: Block): SafeHtml {
    const removedBlock = this.renderRemovedBlock(message, path, block);
    if (removedBlock) return removedBlock;
    if (isText(block)) return this.renderTextValue(message, path.concat('text'), block.text);
    if (isThinking(block)) return renderLongText('Thinking', maskSecrets(block.thinking));
    if (isToolUse(block)) {
      return renderHtml`<h3>${maskSecrets(block.name)}</h3>
        ${this.renderValue(message, path.concat('input'), block.input)}`;
    }
    if (isToolResult(block)) {
      const tool = this.toolNameByCallId.get(block.tool_use_id) ?? block.tool_use_id;
      return renderHtml`<h3>${block.is_error === true ? 'Error' : 'Result'} of ${maskSecrets(tool)}</h3>
        ${this.renderValue(message, path.concat('content'), block.content)}`;
    }
    return renderHtml`<p class="size">${describeBlock(block)}</p>`;
  }

  /** Renders a block that was removed as a whole; undefined for any other block. */
  private renderRemovedBlock(message: number, path: Path, block: unknown): SafeHtml | undefined {
    const edit = this.editByPlace.get(makePlaceKey({ message, path }));
    if (edit?.kind !== 'block') return undefined;
    const description = describeBlock(block);
    this.removedCount += description.length;
    const { text = '' } = edit.placeholder ?? {};
    return renderFoldedText(text === '' ? renderHtml`${describeBlockKind(block)}` : renderMarker(text), description);
  }

  private renderValue(message: number, path: Path, value: unknown): SafeHtml {
    if (typeof value === 'string') return this.renderTextValue(message, path, value);
    if (Array.isArray(value)) {
      return renderHtml`${value.map((part: unknown, at) => this.renderValue(message, path.concat(at), part))}`;
    }
    if (!isRecord(value)) return value === undefined ? renderHtml`` : renderHtml`<p>${JSON.stringify(value)}</p>`;
    if (typeof value['type'] === 'string' && typeof value['text'] !== 'string') {
      const removedBlock = this.renderRemovedBlock(message, path, value);
      if (removedBlock) return removedBlock;
      if (isRecord(value['source'])) return renderHtml`<p class="size">${describeBlock(value)}</p>`;
    }
    return renderHtml`${Object.entries(value)
      .filter(([key]) => key !== 'type')
      .map(
        ([key, part]) =>
          renderHtml`<div class="field">
            <span class="size">${maskSecrets(key)}</span> ${this.renderValue(message, path.concat(key), part)}
          </div>`,
      )}`;
  }

  private renderTextValue(message: number, path: Path, text: string): SafeHtml {
    const edit = this.editByPlace.get(makePlaceKey({ message, path }));
    return edit?.kind === 'cut'
      ? this.renderTextWithCuts(text, edit)
      : renderHtml`<div class="text">${renderUnchangedText(maskSecrets(text))}</div>`;
  }

  private renderTextWithCuts(text: string, { cuts }: CutEdit): SafeHtml {
    for (const { start, end } of cuts) this.removedCount += end - start;
    const maskedText = maskSecrets(text);
    // Masking changes offsets, and a key split by a cut would not be recognized.
    if (maskedText !== text) {
      const markers = cuts.map((cut) => renderMarker(cut.text));
      const fullText = renderFoldedText(
        renderHtml`${markers} This text contains what looks like a key; the whole text, masked`,
        maskedText,
      );
      return renderHtml`<div class="text">${fullText}</div>`;
    }
    const parts: SafeHtml[] = [];
    let position = 0;
    for (const { start, end, text: marker } of cuts) {
      parts.push(
        renderUnchangedText(text.slice(position, start)),
        renderFoldedText(renderMarker(marker), text.slice(start, end)),
      );
      position = end;
    }
    return renderHtml`<div class="text">${[...parts, renderUnchangedText(text.slice(position))]}</div>`;
  }
}

const CLASS_BY_SPEAKER: Readonly<Record<string, string>> = {
  user: 'speaker-user',
  assistant: 'speaker-assistant',
  'tool result': 'speaker-tool',
};

const getMessageId = (index: number): string => `message-${index + 1}`;

function describeBlockKind(block: unknown): string {
  const blockKind = isRecord(block) && typeof block['type'] === 'string' ? block['type'].replaceAll('_', ' ') : '';
  return maskSecrets(blockKind.charAt(0).toUpperCase() + blockKind.slice(1));
}

const renderMarker = (text: string): SafeHtml =>
  text === '' ? renderHtml`` : renderHtml`<ins>${maskSecrets(text)}</ins> `;

const renderFoldedText = (heading: SafeHtml, removedText: string): SafeHtml =>
  renderHtml`<details class="gone">
    <summary>${heading} <span class="size">${formatTokens(removedText.length)} characters removed</span></summary>
    <div class="text"><del>${removedText}</del></div>
  </details>`;

/** Unchanged texts with more lines than this are folded. */
const MAX_UNFOLDED_LINES = 12;

const renderLongText = (heading: string, text: string): SafeHtml =>
  renderHtml`<details>
    <summary>${heading}</summary>
    <div class="text">${text}</div>
  </details>`;

function renderUnchangedText(text: string): SafeHtml {
  const lines = text.split(/\r?\n/);
  const hiddenCount = lines.length - MAX_UNFOLDED_LINES;
  if (hiddenCount <= MAX_UNFOLDED_LINES) return renderHtml`${text}`;
  return renderHtml`${lines.slice(0, MAX_UNFOLDED_LINES).join('\n')}${renderLongText(`${hiddenCount} more lines, unchanged`, lines.slice(MAX_UNFOLDED_LINES).join('\n'))}`;
}
