/** Reads what an answer reports of its tokens and of its failure, on the way by: the bytes go on as they come, whatever is found in them. */
import type { Transform } from 'node:stream';
import type { Usage } from '../core/cost/usage';
import { isRecord } from '../core/messages/blocks';
import { decoderOf, isPacked } from './unpacking';
import type { Wire } from './wires/wire';

/** Longer events and answers are not looked into. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Events that are worth reading. In a text of the model the quotation marks are escaped. */
const TELLS = /[uU]sage|"error"/;

/** What an answer told of itself. */
export interface Told {
  /** The last report of its tokens; undefined where there was none. */
  readonly usage: Usage | undefined;
  /** The error that it told after all, in the form of a refusal's body; undefined where there was none. */
  readonly failure: string | undefined;
}

/** Looks at the bytes of one answer. */
export class UsageReader {
  private readonly text = new TextDecoder();
  private readonly isStream: boolean;
  private readonly decoder: Transform | undefined;
  private readonly isReadable: boolean;
  private usage: Usage | undefined;
  private failure: string | undefined;
  private rest = '';

  constructor(
    private readonly wire: Wire,
    headers: { readonly 'content-type'?: string | undefined; readonly 'content-encoding'?: string | undefined },
  ) {
    this.isStream = headers['content-type']?.includes('event-stream') === true;
    const encoding = headers['content-encoding'];
    this.decoder = decoderOf(encoding);
    // An answer in another compression goes by unread; its usage is not known.
    this.isReadable = !isPacked(encoding) || this.decoder !== undefined;
    this.decoder?.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    this.decoder?.on('error', () => undefined);
  }

  push(chunk: Buffer): void {
    if (!this.isReadable) return;
    if (this.decoder) this.decoder.write(chunk);
    else this.take(chunk);
  }

  async end(): Promise<Told> {
    const { decoder } = this;
    // One that an error has ended tells nothing more.
    if (decoder && !decoder.destroyed) {
      await new Promise<void>((resolve) => {
        decoder.once('close', resolve);
        decoder.once('end', resolve);
        decoder.end();
      });
    }
    this.rest += this.text.decode();
    if (this.isStream) this.line(this.rest);
    else this.report(this.rest);
    const { usage, failure } = this;
    return { usage, failure };
  }

  private take(chunk: Buffer): void {
    if (this.rest.length > MAX_CHARS) return;
    this.rest += this.text.decode(chunk, { stream: true });
    if (!this.isStream) return;
    const lines = this.rest.split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line.startsWith('data:')) this.report(line.slice('data:'.length));
  }

  private report(json: string): void {
    if (json.length > MAX_CHARS || !TELLS.test(json)) return;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    // Gemini without `alt=sse` answers with a list of what would be events.
    for (const event of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (!isRecord(event)) continue;
      this.usage = this.wire.usage(event, this.usage);
      const error = this.wire.failure(event) ?? undefined;
      if (error !== undefined) this.failure = JSON.stringify({ error });
    }
  }
}
