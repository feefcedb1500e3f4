import type { Clock } from '../api/clock';
import type { CondensationManager } from '../core/condense';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenLearning } from './tokenLearning';
import type { LiveSettings } from './types';
import type { LiveEvent } from './events';

/** What the parts of the engine share. */
export interface LiveParts {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly settings: () => LiveSettings;
  readonly clock: Clock;
  readonly learning: TokenLearning;
  readonly emit: (event: LiveEvent) => void;
}
