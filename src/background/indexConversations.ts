import { loadFillLevelReader, type FillLevelReader } from '../account/fillLevel';
import { OpenDatabases } from '../conversations/databases';
import { findConversations } from '../conversations/stores/find';
import {
  type ConversationDetails,
  readDetailsFromBeginning,
  isSmallConversation,
  isTooLargeToCount,
  readDetailsFromWholeFile,
} from '../conversations/stores/details';
import { FileHeadCache } from '../conversations/stores/fileHeadCache';
import type { FoundConversation } from '../conversations/stores/types';
import { listAllGivenBack } from '../giveBack/replacements';
import { nodeFiles } from '../storage/nodeFiles';
import { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenCounter } from '../core/tokens/types';
import { DetailsCache } from './detailsCache';
import type { IndexProgress, IndexTask } from './tasks';

type ReportProgress = (progress: IndexProgress) => void;

const PROGRESS_INTERVAL_MS = 100;
const CACHE_SAVE_INTERVAL_MS = 2_000;

/** Finds conversations, then reads those whose details are unknown. Blocks the thread. */
export async function indexConversations(
  task: IndexTask,
  tokens: () => Promise<TokenCounter>,
  report: ReportProgress,
): Promise<null> {
  const databases = new OpenDatabases();
  try {
    await buildConversationIndex(task, tokens, report, databases);
  } finally {
    databases.closeAll();
  }
  return null;
}

async function buildConversationIndex(
  { find, history, cache: file, replacements }: IndexTask,
  tokens: () => Promise<TokenCounter>,
  report: ReportProgress,
  databases: OpenDatabases,
): Promise<void> {
  const foundConversations = await findConversations(find, databases);
  // Ignore errors here, because they are reported when a conversation is given back. Without this
  // list, copies are estimated like other conversations.
  const givenBackConversations =
    replacements === undefined ? [] : await listAllGivenBack(nodeFiles, replacements).catch(() => []);
  report({ found: foundConversations, givenBack: givenBackConversations });
  const cache = await DetailsCache.open(file, history);
  const cachedDetails = foundConversations.conversations.flatMap((each) => cache.findUpToDateDetails(each) ?? []);
  if (cachedDetails.length > 0) report({ details: cachedDetails });

  const batcher = new ProgressBatcher(cache, report);
  const fileHeads = new FileHeadCache();
  let counter: TokenCounter | undefined;
  let getFillLevel: FillLevelReader | undefined;
  const readWholeFile = async (file: FoundConversation): Promise<void> => {
    counter ??= await tokens();
    const readFillLevel = (getFillLevel ??= await loadFillLevelReader());
    // Each conversation has its own counter, because cached counts of one are useless for the next.
    const messages = new MessageCounter(counter);
    await batcher.addDetails(
      readDetailsFromWholeFile(file, messages, history, (read) => readFillLevel(read, messages), {
        head: fileHeads.removeHead(file.path),
        databases,
      }),
    );
  };
  for (const file of foundConversations.conversations) {
    if (cache.findUpToDateDetails(file) || file.bytes === undefined) continue;
    if (isSmallConversation(file)) {
      await readWholeFile(file);
      continue;
    }
    // Without room to keep a file's beginning, it would be read twice. So the title is read with
    // the whole file.
    if (!fileHeads.hasRoom && !isTooLargeToCount(file)) continue;
    const { details, head } = readDetailsFromBeginning(file);
    if (head && !details.isComplete) fileHeads.addHead(file.path, head);
    await batcher.addDetails(details);
  }
  for (const foundConversation of foundConversations.conversations) {
    if (cache.findUpToDateDetails(foundConversation)?.isComplete !== true) await readWholeFile(foundConversation);
  }
  await batcher.finishBatches(foundConversations.conversations);
}

/** Saves details periodically, so that a cancellation loses little. */
class ProgressBatcher {
  private batch: ConversationDetails[] = [];
  private reportedAt = performance.now();
  private savedAt = performance.now();

  constructor(
    private readonly cache: DetailsCache,
    private readonly report: ReportProgress,
  ) {}

  async addDetails(details: ConversationDetails): Promise<void> {
    this.cache.storeDetails(details);
    this.batch.push(details);
    if (performance.now() - this.reportedAt > PROGRESS_INTERVAL_MS) await this.flush();
    if (performance.now() - this.savedAt > CACHE_SAVE_INTERVAL_MS) {
      await this.cache.save();
      this.savedAt = performance.now();
    }
  }

  async finishBatches(found: readonly FoundConversation[]): Promise<void> {
    await this.flush();
    await this.cache.save(new Set(found.map(({ path }) => path)));
  }

  private async flush(): Promise<void> {
    if (this.batch.length > 0) this.report({ details: this.batch });
    this.batch = [];
    this.reportedAt = performance.now();
    // Waits one turn so that the message is sent.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
