import type { ContentOperation } from './operationSchema';
import type { IndividualPass } from './passSchema';

/** Every operation that a pass names, for any content of any message. */
export const passOperations = ({ individualConfig }: Pick<IndividualPass, 'individualConfig'>): ContentOperation[] =>
  [individualConfig.defaults, ...individualConfig.overrides.map(({ operations }) => operations)]
    .flatMap(({ messageText, toolParameters, toolResults }) => [messageText, toolParameters, toolResults])
    .filter((operation) => operation !== undefined);
