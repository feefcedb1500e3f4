import { randomUUID } from 'node:crypto';
import type { CondensationOutcome } from '../core/condense';
import type { CondensationId } from '../core/condense/ledger';
import { formatReport } from '../core/condense/report';
import { viewHash } from '../core/condense/viewHash';
import { openLedger, originalsOf } from '../storage/ledgerStore';
import { readConfig } from './config';
import { outcomeFigures } from './figures';
import { EXIT, type ExitCode } from './io';
import { messagesJson, outFile, writeWhole } from './output';
import { targetOf, type Session } from './session';

/**
 * `condense`: from the conversation as its file has it, whatever was condensed before. The result goes into the ledger
 * and to `--out`; nothing else is written.
 */
export async function condense(session: Session): Promise<ExitCode> {
  const { args, io, conversation, manager } = session;
  const provider = manager.getProvider(args.provider);
  const out = args.out === undefined ? undefined : await outFile(args.out, args.file);
  const outcome = await manager.condense({
    conversation: conversation.id,
    messages: conversation.messages,
    provider: provider.id,
    config: await readConfig(args.config, provider),
    trigger: 'manual',
    signal: io.signal,
    ...targetOf(session),
  });
  if (outcome.kind === 'condensed') {
    await keep(session, outcome);
    if (out !== undefined) await writeWhole(out, messagesJson(conversation, outcome.view));
  }
  print(session, outcome, out);
  return exitOf(outcome);
}

/** The ledger first: a view without its originals must not exist. */
async function keep(
  { io, conversation, store }: Session,
  outcome: CondensationOutcome & { kind: 'condensed' },
): Promise<void> {
  const ledger = await openLedger(store, conversation);
  const { provider, edits, steps, tokensBefore, tokensAfter, cost } = outcome;
  await ledger.append(
    {
      type: 'condensed',
      condensation: {
        id: randomUUID() as string as CondensationId,
        at: io.now().toISOString(),
        provider,
        base: 'original',
        edits,
        steps,
        tokensBefore,
        tokensAfter,
        cost,
        viewHash: viewHash(outcome.view),
      },
    },
    originalsOf(conversation.messages, edits),
  );
}

function print(session: Session, outcome: CondensationOutcome, out: string | undefined): void {
  const { args, io, manager } = session;
  if (args.json) {
    io.stdout(`${JSON.stringify(outcomeFigures(session, outcome))}\n`);
  } else {
    const info = manager.listProviders().find(({ id }) => id === outcome.provider);
    if (info) io.stdout(`${formatReport(outcome, info, session.calibrate)}\n`);
  }
  if (out === undefined) return;
  const say = args.json ? io.stderr : io.stdout;
  say(outcome.kind === 'condensed' ? `Written: ${out}\n` : `Not written: ${out}\n`);
}

function exitOf(outcome: CondensationOutcome): ExitCode {
  switch (outcome.kind) {
    case 'condensed':
      return EXIT.done;
    case 'unchanged':
      return EXIT.nothingToGain;
    case 'cancelled':
      return EXIT.cancelled;
    case 'refused':
    case 'failed':
      return EXIT.failed;
  }
}
