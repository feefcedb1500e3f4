/**
 * Limits the length of lines to the MCP server, because the SDK's transport dies silently on longer
 * ones.
 */
import { Transform, type TransformCallback, type Writable } from 'node:stream';

/** Queries have a few hundred bytes. */
const MAX_LINE_BYTES = 1024 * 1024;
/** MCP clients put a request's ID within this many bytes. */
const ID_SEARCH_BYTES = 1_024;
const JSON_RPC_ID = /"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")/;
const NEWLINE_BYTE = 0x0a;

/** Answers a line that is too long with an error. */
export class LineLengthLimiter extends Transform {
  private pieces: Buffer[] = [];
  private length = 0;

  constructor(private readonly answers: Writable) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, finishChunk: TransformCallback): void {
    let lineStart = 0;
    for (let lineEnd = chunk.indexOf(NEWLINE_BYTE); lineEnd >= 0; lineEnd = chunk.indexOf(NEWLINE_BYTE, lineStart)) {
      this.appendToLine(chunk.subarray(lineStart, lineEnd + 1));
      this.endLine();
      lineStart = lineEnd + 1;
    }
    this.appendToLine(chunk.subarray(lineStart));
    finishChunk();
  }

  private appendToLine(piece: Buffer): void {
    this.length += piece.length;
    if (this.length <= MAX_LINE_BYTES) this.pieces.push(piece);
    // Keep only the start of a dropped line.
    else if (this.pieces.length > 1 || (this.pieces[0]?.length ?? ID_SEARCH_BYTES + 1) > ID_SEARCH_BYTES) {
      this.pieces = [Buffer.concat([...this.pieces, piece]).subarray(0, ID_SEARCH_BYTES)];
    }
  }

  private endLine(): void {
    const line = Buffer.concat(this.pieces);
    if (this.length <= MAX_LINE_BYTES) this.push(line);
    else {
      const id = JSON_RPC_ID.exec(line.toString('latin1', 0, ID_SEARCH_BYTES))?.[1] ?? 'null';
      const message = `A message may have ${MAX_LINE_BYTES.toLocaleString('en-US')} bytes. This one has more, and was not read.`;
      this.answers.write(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":${JSON.stringify(message)}}}\n`);
    }
    this.pieces = [];
    this.length = 0;
  }
}
