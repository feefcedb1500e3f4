import { generateConversation } from '../generators/conversation';
import { freshCounter } from '../../src/core/testingCounter';
import { smartProvider } from '../../src/core/condense';
const main = async () => {
  const messages = generateConversation({ seed: 3, targetTokens: 200_000 });
  const counter = freshCounter();
  const p = smartProvider();
  for (let i = 0; i < 12; i++) {
    const t = performance.now(); const c = process.cpuUsage();
    const v = p.validateConfig('file-aware'); if (!v.valid) continue;
    const r = await p.estimateReduction({ messages, edits: [], counter, pinned: new Set([20 + i]) }, v.config, { targetTokens: 100_000 });
    const d = process.cpuUsage(c);
    console.log(i, r.tokensAfter, (performance.now() - t).toFixed(0), 'ms cpu', (d.user + d.system) / 1000);
  }
};
void main();
