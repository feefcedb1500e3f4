/**
 * A condensed conversation as one page: every message in order, with removed content in folds at
 * its place. Folds are the browser's own, so that keys and screen readers work without a script.
 */
import { html, type Html } from './html';
import { isRecord, isText, isThinking, isToolResult, isToolUse } from '../core/messages/blocks';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import type { ApiMessage, Block, Path } from '../core/messages/types';
import { maskSecrets } from '../core/secrets/maskSecrets';
import { lastByPlace, placeKey, type CutEdit, type Edit } from '../core/condense/edits/edits';
import { formatTokens } from '../core/format';
import { getSpeaker } from '../core/messages/render';
import { describeBlock, renderMaskedConversation } from './reportPage';
import { renderPage } from './page';

export interface ReadConversation {
  readonly title: string;
  readonly original: readonly ApiMessage[];
  /** All edits in the view, in order. */
  readonly edits: readonly Edit[];
}

interface ReadingOptions {
  /** For the page's style; nothing else is allowed. */
  readonly nonce: string;
}

/** The page for a webview. Secrets are masked in whole strings before truncation. */
export function renderReadingPage(subject: ReadConversation, { nonce }: ReadingOptions): string {
  const { title, original, edits } = subject;
  const shown = lastByPlace(edits);
  const reader = new Reader(original, shown);
  const sections: Html[] = [];
  for (let index = 0; index < original.length;) {
    const { section, next } = reader.at(index);
    sections.push(section);
    index = next;
  }
  const places = reader.changed.map(({ id, words }) => html`<li><a href="#${id}">${words}</a></li>`);
  return renderPage(
    maskSecrets(title),
    html`<h1>${maskSecrets(title)}</h1>
      <p>
        ${original.length} messages after condensing. Markers show where something was removed; open one to read what
        was there. Keys are masked.
      </p>
      ${
        places.length === 0
          ? html`<p>Nothing was removed.</p>`
          : html`<details>
              <summary>${places.length} ${places.length === 1 ? 'message' : 'messages'} with something removed</summary>
              <ol>
                ${places}
              </ol>
            </details>`
      }
      ${sections}`,
    nonce,
  );
}

/** A message with removed content, by its ID on the page. */
interface ChangedMessage {
  readonly id: string;
  readonly words: string;
}

class Reader {
  readonly changed: ChangedMessage[] = [];
  private readonly byPlace = new Map<string, Edit>();
  private readonly summaries = new Map<number, Extract<Edit, { kind: 'summary' }>>();
  private readonly tools = new Map<string, string>();

  constructor(
    private readonly original: readonly ApiMessage[],
    edits: readonly Edit[],
  ) {
    for (const edit of edits) {
      if (edit.kind === 'summary') this.summaries.set(edit.start, edit);
      else this.byPlace.set(placeKey(edit.place), edit);
    }
    for (const { content } of original) {
      if (typeof content === 'string') continue;
      for (const block of content) if (isToolUse(block)) this.tools.set(block.id, block.name);
    }
  }

  /** The part of the view at an original message, and the next message not covered. */
  at(index: number): { readonly section: Html; readonly next: number } {
    const summary = this.summaries.get(index);
    if (!summary) return { section: this.message(index), next: index + 1 };
    const { start, end, message } = summary;
    const words = `Messages ${start + 1} to ${end}`;
    this.changed.push({ id: getMessageId(index), words: `${words}: a summary` });
    const replaced = renderMaskedConversation(this.original.slice(start, end));
    const section = html`<section id="${getMessageId(index)}">
      <h2>${words} <span class="size">summary</span></h2>
      <div class="text"><ins>${renderMaskedConversation([message], [SUMMARY_ORIGIN])}</ins></div>
      ${renderFold(html`${words}, which it replaced`, replaced)}
    </section>`;
    return { section, next: Math.max(end, index + 1) };
  }

  private message(index: number): Html {
    const message = this.original[index];
    if (!message) return html``;
    const { content } = message;
    const speaker = getSpeaker(message);
    const before = this.removed;
    const body =
      typeof content === 'string'
        ? this.text(index, ['content'], content)
        : content.map((block, at) => this.block(index, ['content', at], block));
    const id = getMessageId(index);
    const count = this.removed - before;
    if (count > 0) {
      this.changed.push({ id, words: `Message ${index + 1} · ${speaker}: ${formatTokens(count)} characters` });
    }
    return html`<section id="${id}">
      <h2>${index + 1} <span class="${SPEAKER_CLASS[speaker] ?? 'size'}">${speaker}</span></h2>
      ${body}
    </section>`;
  }

  /** Characters removed so far. */
  private removed = 0;

  private block(message: number, path: Path, block: Block): Html {
    const gone = this.goneBlock(message, path, block);
    if (gone) return gone;
    if (isText(block)) return this.text(message, path.concat('text'), block.text);
    if (isThinking(block)) return renderLongText('Thinking', maskSecrets(block.thinking));
    if (isToolUse(block)) {
      return html`<h3>${maskSecrets(block.name)}</h3>
        ${this.value(message, path.concat('input'), block.input)}`;
    }
    if (isToolResult(block)) {
      const tool = this.tools.get(block.tool_use_id) ?? block.tool_use_id;
      return html`<h3>${block.is_error === true ? 'Error' : 'Result'} of ${maskSecrets(tool)}</h3>
        ${this.value(message, path.concat('content'), block.content)}`;
    }
    return html`<p class="size">${describeBlock(block)}</p>`;
  }

  /** A block that was removed entirely, folded; undefined if it is still there. */
  private goneBlock(message: number, path: Path, block: unknown): Html | undefined {
    const edit = this.byPlace.get(placeKey({ message, path }));
    if (edit?.kind !== 'block') return undefined;
    const words = describeBlock(block);
    this.removed += words.length;
    const { text = '' } = edit.placeholder ?? {};
    return renderFold(text === '' ? html`${describeKind(block)}` : renderMarker(text), words);
  }

  /** Parameters and results, in which any string may be cut. */
  private value(message: number, path: Path, value: unknown): Html {
    if (typeof value === 'string') return this.text(message, path, value);
    if (Array.isArray(value)) {
      return html`${value.map((part: unknown, at) => this.value(message, path.concat(at), part))}`;
    }
    if (!isRecord(value)) return value === undefined ? html`` : html`<p>${JSON.stringify(value)}</p>`;
    if (typeof value['type'] === 'string' && typeof value['text'] !== 'string') {
      const gone = this.goneBlock(message, path, value);
      if (gone) return gone;
      if (isRecord(value['source'])) return html`<p class="size">${describeBlock(value)}</p>`;
    }
    return html`${Object.entries(value)
      .filter(([key]) => key !== 'type')
      .map(
        ([key, part]) =>
          html`<div class="field">
            <span class="size">${maskSecrets(key)}</span> ${this.value(message, path.concat(key), part)}
          </div>`,
      )}`;
  }

  private text(message: number, path: Path, text: string): Html {
    const edit = this.byPlace.get(placeKey({ message, path }));
    return edit?.kind === 'cut'
      ? this.cutText(text, edit)
      : html`<div class="text">${renderText(maskSecrets(text))}</div>`;
  }

  private cutText(text: string, { cuts }: CutEdit): Html {
    for (const { start, end } of cuts) this.removed += end - start;
    const masked = maskSecrets(text);
    // Masking changes offsets, and a key split by a cut would not be recognized.
    if (masked !== text) {
      const markers = cuts.map((cut) => renderMarker(cut.text));
      const whole = renderFold(
        html`${markers} This text contains what looks like a key; the whole text, masked`,
        masked,
      );
      return html`<div class="text">${whole}</div>`;
    }
    const pieces: Html[] = [];
    let at = 0;
    for (const { start, end, text: now } of cuts) {
      pieces.push(renderText(text.slice(at, start)), renderFold(renderMarker(now), text.slice(start, end)));
      at = end;
    }
    return html`<div class="text">${[...pieces, renderText(text.slice(at))]}</div>`;
  }
}

/** Color by speaker. */
const SPEAKER_CLASS: Readonly<Record<string, string>> = {
  user: 'speaker-user',
  assistant: 'speaker-assistant',
  'tool result': 'speaker-tool',
};

const getMessageId = (index: number): string => `message-${index + 1}`;

function describeKind(block: unknown): string {
  const words = isRecord(block) && typeof block['type'] === 'string' ? block['type'].replaceAll('_', ' ') : '';
  return maskSecrets(words.charAt(0).toUpperCase() + words.slice(1));
}

/** The replacement of removed content; empty if there is none. */
const renderMarker = (text: string): Html => (text === '' ? html`` : html`<ins>${maskSecrets(text)}</ins> `);

const renderFold = (words: Html, gone: string): Html =>
  html`<details class="gone">
    <summary>${words} <span class="size">${formatTokens(gone.length)} characters removed</span></summary>
    <div class="text"><del>${gone}</del></div>
  </details>`;

/** Lines of an unchanged text shown without opening it. */
const READ_LINES = 12;

const renderLongText = (words: string, text: string): Html =>
  html`<details>
    <summary>${words}</summary>
    <div class="text">${text}</div>
  </details>`;

function renderText(text: string): Html {
  const lines = text.split('\n');
  const rest = lines.length - READ_LINES;
  if (rest <= READ_LINES) return html`${text}`;
  return html`${lines.slice(0, READ_LINES).join('\n')}${renderLongText(`${rest} more lines, unchanged`, lines.slice(READ_LINES).join('\n'))}`;
}
