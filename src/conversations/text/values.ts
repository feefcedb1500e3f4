/** Fields of records that come from outside, taken for what they are or not at all. */
import { isRecord } from '../../core/messages/blocks';

export type Fields = Readonly<Record<string, unknown>>;

/** A field that is a string. */
export const stringIn = (value: Fields, field: string): string | undefined => {
  const text = value[field];
  return typeof text === 'string' ? text : undefined;
};

/** A field that is a finite number, or no such field. */
export const numberIn = (value: Fields, field: string): number | undefined => {
  const number = value[field];
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** A field that counts something: 0 where it is missing or negative, NaN where something else stands in its place. */
export const countIn = (value: Fields, field: string): number => {
  const count = value[field] ?? 0;
  return typeof count === 'number' && Number.isFinite(count) ? Math.max(0, count) : Number.NaN;
};

/** A point in time as records spell it, ISO 8601 or milliseconds since the epoch, in milliseconds. */
export function timeIn(value: Fields, field: string): number | undefined {
  const time = value[field];
  const ms = typeof time === 'string' ? Date.parse(time) : time;
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** A field that is an object. */
export const recordIn = (value: Fields, field: string): Fields | undefined => {
  const inner = value[field];
  return isRecord(inner) ? inner : undefined;
};

/** A field that is a list; else none of it. */
export const listIn = (value: Fields, field: string): readonly unknown[] => {
  const list = value[field];
  return Array.isArray(list) ? list : [];
};

/** A value as text for a model: a string as it is, nothing as no text, all else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

const DATA_URL = /^data:([^;,]+);base64,/;

/** The source of an image block: the bytes of a data URL, else the address. */
export function imageSource(url: string): Fields {
  const match = DATA_URL.exec(url);
  return match ? { type: 'base64', media_type: match[1], data: url.slice(match[0].length) } : { type: 'url', url };
}
