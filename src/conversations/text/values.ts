/** Reads fields of untrusted records, ignoring values of the wrong type. */
import { isRecord } from '../../core/messages/blocks';

export type Fields = Readonly<Record<string, unknown>>;

export const readString = (value: Fields, field: string): string | undefined => {
  const text = value[field];
  return typeof text === 'string' ? text : undefined;
};

/** Undefined unless the value is a finite number. */
export const readNumber = (value: Fields, field: string): number | undefined => {
  const number = value[field];
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** 0 if missing or negative, NaN if it is not a number. */
export const readCount = (value: Fields, field: string): number => {
  const count = value[field] ?? 0;
  return typeof count === 'number' && Number.isFinite(count) ? Math.max(0, count) : Number.NaN;
};

/** Milliseconds since the epoch, from ISO 8601 or a number. */
export function readTime(value: Fields, field: string): number | undefined {
  const time = value[field];
  const ms = typeof time === 'string' ? Date.parse(time) : time;
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

export const readRecord = (value: Fields, field: string): Fields | undefined => {
  const fieldValue = value[field];
  return isRecord(fieldValue) ? fieldValue : undefined;
};

export const readList = (value: Fields, field: string): readonly unknown[] => {
  const list = value[field];
  return Array.isArray(list) ? list : [];
};

/** Strings stay unchanged, null and undefined become empty, anything else JSON. */
export const stringifyValue = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

const DATA_URL = /^data:([^;,]+);base64,/;

export function convertImageUrl(url: string): Fields {
  const match = DATA_URL.exec(url);
  return match ? { type: 'base64', media_type: match[1], data: url.slice(match[0].length) } : { type: 'url', url };
}
