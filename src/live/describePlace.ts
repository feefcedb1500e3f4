import { listToolExchanges } from '../core/messages/exchanges';
import { DEFAULT_TOOLS, getToolPath } from '../core/messages/tools';
import type { ApiMessage, ContentPlace } from '../core/messages/types';

/** Describes a place such as `result of read_file src/a.ts, message 12`. */
export function createPlaceDescriber(messages: readonly ApiMessage[]): (place: ContentPlace) => string {
  const labelByBlock = new Map<string, string>();
  for (const exchange of listToolExchanges(messages)) {
    const name = [exchange.tool, getToolPath(DEFAULT_TOOLS, exchange)].filter(Boolean).join(' ');
    for (const { path } of exchange.parameters)
      labelByBlock.set(getBlockKey(exchange.callMessage, path), `parameter of ${name}`);
    for (const { path, message } of exchange.results) labelByBlock.set(getBlockKey(message, path), `result of ${name}`);
  }
  return ({ message, path }) => {
    const blockLabel = path.length === 0 ? 'messages' : (labelByBlock.get(getBlockKey(message, path)) ?? 'text');
    return `${blockLabel}, ${path.length === 0 ? 'from message' : 'message'} ${message + 1}`;
  };
}

const getBlockKey = (message: number, path: ContentPlace['path']): string => `${message}/${path[1] ?? ''}`;
