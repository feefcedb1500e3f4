/** What operations work on: a text, the parameters of a call, the result of a call. */
import { contentsOf } from '../../../messages/content';
import type { PlacedContent, ToolExchange } from '../../../messages/exchanges';
import type { ContentType, Path } from '../../../messages/types';
import { exchangesOf } from '../../lossless/draftExchanges';
import type { Draft } from '../../draft';

export interface Item {
  readonly type: ContentType;
  /** Index of the message in the original. */
  readonly message: number;
  readonly role: 'user' | 'assistant';
  readonly contents: readonly PlacedContent[];
  /** The call that it belongs to; undefined for text, and for what an imperfect history can't match. */
  readonly exchange: ToolExchange | undefined;
  /** o200k tokens of its contents. */
  readonly tokens: number;
}

/** The items of a draft's view by message, in the message's order. */
export function itemsOf(draft: Draft): (message: number) => Item[] {
  const owners = new Map<string, ToolExchange>();
  for (const exchange of exchangesOf(draft)) {
    for (const content of [...exchange.parameters, ...exchange.results]) owners.set(keyOf(content), exchange);
  }
  return (index) => {
    const message = draft.messages[index];
    if (!message || message.role === 'system') return [];
    const groups = new Map<unknown, PlacedContent[]>();
    for (const content of contentsOf(message)) {
      const placed = { ...content, message: index };
      const owner = content.type === 'messageText' ? undefined : owners.get(keyOf(placed));
      // Texts are items of their own; so are the blocks of calls and results that belong to no exchange.
      const group = owner ?? (content.type === 'messageText' ? placed : `${content.type} ${content.path[1] ?? ''}`);
      const known = groups.get(group);
      if (known) known.push(placed);
      else groups.set(group, [placed]);
    }
    const { role } = message;
    return [...groups.values()].flatMap((contents): Item[] => {
      const [first] = contents;
      if (!first) return [];
      const tokens = contents.reduce((sum, { text }) => sum + draft.counter.text(text), 0);
      return [{ type: first.type, message: index, role, contents, exchange: owners.get(keyOf(first)), tokens }];
    });
  };
}

const keyOf = ({ message, path, start }: PlacedContent): string => `${message} ${path.join('/')} ${start}`;

/** The name of the parameter that a content is, or lies in; undefined for other content. */
export function parameterName({ path, text }: PlacedContent, exchange: ToolExchange | undefined): string | undefined {
  const input = path.indexOf('input');
  const key: Path[number] | undefined = input < 0 ? undefined : path[input + 1];
  if (key !== undefined) return String(key);
  return Object.entries(exchange?.input ?? {}).find(([, value]) => value === text)?.[0];
}
