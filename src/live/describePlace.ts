import { listToolExchanges } from '../core/messages/exchanges';
import { DEFAULT_TOOLS, getPath } from '../core/messages/tools';
import type { ApiMessage, Place } from '../core/messages/types';

/** Describes a place such as `result of read_file src/a.ts, message 12`. */
export function createPlaceDescriber(messages: readonly ApiMessage[]): (place: Place) => string {
  const named = new Map<string, string>();
  for (const exchange of listToolExchanges(messages)) {
    const name = [exchange.tool, getPath(DEFAULT_TOOLS, exchange)].filter(Boolean).join(' ');
    for (const { path } of exchange.parameters)
      named.set(getBlockKey(exchange.callMessage, path), `parameter of ${name}`);
    for (const { path, message } of exchange.results) named.set(getBlockKey(message, path), `result of ${name}`);
  }
  return ({ message, path }) => {
    const what = path.length === 0 ? 'messages' : (named.get(getBlockKey(message, path)) ?? 'text');
    return `${what}, ${path.length === 0 ? 'from message' : 'message'} ${message + 1}`;
  };
}

const getBlockKey = (message: number, path: Place['path']): string => `${message}/${path[1] ?? ''}`;
