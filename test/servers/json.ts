export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export const objects = (value: unknown): readonly Json[] => list(value).filter(isObject);

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
