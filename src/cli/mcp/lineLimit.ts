/**
 * Limits the length of lines that the MCP server receives: on a longer one, the SDK's transport
 * dies silently.
 */
import { Transform, type TransformCallback, type Writable } from 'node:stream';

/** Far more than a query needs, which has a few hundred bytes. */
const MAX_LINE_BYTES = 1024 * 1024;
/**
 * A request's ID is searched in this many bytes at the start of a line; MCP clients put it there.
 */
const ID_SEARCH_BYTES = 1_024;
const JSON_RPC_ID = /"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")/;
const NEWLINE_BYTE = 0x0a;

/** Drops a line that is too long and answers it with an error. */
export class LineLengthLimiter extends Transform {
  private linePieces: Buffer[] = [];
  private lineBytes = 0;

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
    this.lineBytes += piece.length;
    if (this.lineBytes <= MAX_LINE_BYTES) this.linePieces.push(piece);
    // Of a line that is dropped, keep only the start, which contains the ID.
    else if (this.linePieces.length > 1 || (this.linePieces[0]?.length ?? ID_SEARCH_BYTES + 1) > ID_SEARCH_BYTES) {
      this.linePieces = [Buffer.concat([...this.linePieces, piece]).subarray(0, ID_SEARCH_BYTES)];
    }
  }

  private endLine(): void {
    const line = Buffer.concat(this.linePieces);
    if (this.lineBytes <= MAX_LINE_BYTES) this.push(line);
    else {
      const requestId = JSON_RPC_ID.exec(line.toString('latin1', 0, ID_SEARCH_BYTES))?.[1] ?? 'null';
      const message = `A message may have ${MAX_LINE_BYTES.toLocaleString('en-US')} bytes. This one has more, and was not read.`;
      this.answers.write(
        `{"jsonrpc":"2.0","id":${requestId},"error":{"code":-32600,"message":${JSON.stringify(message)}}}\n`,
      );
    }
    this.linePieces = [];
    this.lineBytes = 0;
  }
}
