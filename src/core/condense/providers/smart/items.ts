/** What an operation changes: a text, a call's parameters, or a call's result. */
import { listContents, type Content } from '../../../messages/content';
import type { PlacedContent, ToolExchange } from '../../../messages/exchanges';
import type { ApiMessage, ContentType, Path } from '../../../messages/types';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { memoizeByObject } from '../../../memoizeByObject';
import type { Draft } from '../../draft/draft';

export interface ContentItem {
  readonly type: ContentType;
  /** Index of the original message. */
  readonly message: number;
  readonly role: 'user' | 'assistant';
  readonly contents: readonly PlacedContent[];
  /** Undefined for text, and for calls and results without a counterpart. */
  readonly exchange: ToolExchange | undefined;
  /** In o200k tokens. */
  readonly tokens: number;
}

export function createItemLookup(draft: Draft): (message: number) => readonly ContentItem[] {
  const { findOwner, cachedItems } = findExchangesOfContents(draft.exchanges);
  return (index) => {
    const message = draft.messages[index];
    if (!message || message.role === 'system') return [];
    const { counter } = draft;
    const cachedEntry = cachedItems.get(message);
    if (cachedEntry?.index === index && cachedEntry.counter === counter) return cachedEntry.items;
    const items = listItems(message, index, message.role, findOwner, counter);
    cachedItems.set(message, { index, counter, items });
    return items;
  };
}

type FindExchangeOfContent = (content: Content) => ToolExchange | undefined;

function listItems(
  message: ApiMessage,
  index: number,
  role: ContentItem['role'],
  findOwner: FindExchangeOfContent,
  counter: MessageCounter,
): ContentItem[] {
  const itemByGroup = new Map<unknown, ContentItem & { contents: PlacedContent[]; tokens: number }>();
  for (const content of listContents(message)) {
    const { type, path, start, end, text } = content;
    const exchange = type === 'messageText' ? undefined : findOwner(content);
    const groupKey = exchange ?? (type === 'messageText' ? content : `${type} ${path[1] ?? ''}`);
    const tokens = countContentTokens(content, counter);
    const placedContent: PlacedContent = { type, path, start, end, text, message: index };
    const item = itemByGroup.get(groupKey);
    if (!item) itemByGroup.set(groupKey, { type, message: index, role, contents: [placedContent], exchange, tokens });
    else {
      item.contents.push(placedContent);
      item.tokens += tokens;
    }
  }
  return [...itemByGroup.values()];
}

/** Paths are compared by identity; XML-era slices may share one path. */
const findExchangesOfContents = memoizeByObject((exchanges: readonly ToolExchange[]): ToolExchangeByContent => {
  const exchangesByPath = new Map<Path, { readonly start: number; readonly exchange: ToolExchange }[]>();
  for (const exchange of exchanges) {
    for (const { path, start } of [...exchange.parameters, ...exchange.results]) {
      const exchangesAtPath = exchangesByPath.get(path);
      if (exchangesAtPath) exchangesAtPath.push({ start, exchange });
      else exchangesByPath.set(path, [{ start, exchange }]);
    }
  }
  const findOwner: FindExchangeOfContent = ({ path, start }) =>
    exchangesByPath.get(path)?.find((owner) => owner.start === start)?.exchange;
  return { findOwner, cachedItems: new WeakMap() };
});

interface ToolExchangeByContent {
  readonly findOwner: FindExchangeOfContent;
  readonly cachedItems: WeakMap<ApiMessage, CachedItemsOfMessage>;
}

interface CachedItemsOfMessage {
  readonly index: number;
  readonly counter: MessageCounter;
  readonly items: readonly ContentItem[];
}

const tokensByContent = new WeakMap<MessageCounter, WeakMap<Content, number>>();

function countContentTokens(content: Content, counter: MessageCounter): number {
  const countByContent = tokensByContent.get(counter) ?? new WeakMap<Content, number>();
  tokensByContent.set(counter, countByContent);
  const tokens = countByContent.get(content) ?? counter.countText(content.text);
  countByContent.set(content, tokens);
  return tokens;
}

export function getParameterName(
  { path, text }: PlacedContent,
  exchange: ToolExchange | undefined,
): string | undefined {
  const inputIndex = path.indexOf('input');
  const key = inputIndex < 0 ? undefined : path[inputIndex + 1];
  if (key !== undefined) return String(key);
  return Object.entries(exchange?.input ?? {}).find(([, value]) => value === text)?.[0];
}
