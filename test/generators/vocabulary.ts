/** Provides words for generated names, paths and sentences. */
import type { Random } from './random';

const NOUNS =
  'account address alert archive asset batch billing branch bucket buffer cache calendar campaign cart catalog channel chunk client cluster comment commit config consumer container contract coupon cursor customer dashboard delivery device digest discount document draft endpoint entry event export feature feed field filter folder fragment gateway graph group handle history hook identity image import index inventory invoice issue item job journal key label layout lease ledger limit link listener lock mailbox manifest member merge message metric migration mirror module monitor node notice offer order outbox owner packet page parcel partition passage patch payment peer pipeline plan policy pool price profile project promotion proxy queue quota receipt record region registry release relay replica report request reservation resource response result retry review role route rule sample schedule schema scope segment sender sequence server session setting shard shipment signal snapshot source stage statement status storage stream subject subscription summary supplier survey switch table tag target task template tenant thread ticket token topic trace tracker transaction transfer trigger upload usage user vendor version view voucher wallet warehouse webhook widget window worker workspace zone'.split(
    ' ',
  );
const VERBS =
  'accept acquire append apply archive assign attach build cancel check claim clear close collect commit compact compare compute convert copy count create decode delete deliver describe detach discover dispatch drain emit encode enqueue ensure estimate evaluate expand expire export extract fetch filter find flush format freeze group handle import insert inspect install invalidate issue join link list load lock lookup map mark match measure merge migrate move normalize notify observe open parse patch persist pick plan prepare preview probe prune publish purge read rebuild receive reconcile record reduce refresh register reject release reload remove render renew repair replace report request reserve reset resolve restore resume retry revoke rotate route schedule score seal select send settle sign skip split stage start stop store stream submit summarize suspend sync track transfer trim unlock update upgrade upload validate verify visit watch withdraw write'.split(
    ' ',
  );
const ADJECTIVES =
  'active allowed ancient available blocked broken busy cached canonical changed clean closed cold complete current damaged default deferred deleted dirty distinct double early empty expired external failed fast final first foreign fresh full global hidden idle implicit initial inner invalid joint known large last late latest legacy live local locked lost main manual minor missing mutable narrow native nested new normal old open optional orphan outer partial pending pinned plain previous primary private public quick raw ready recent relative remote reserved safe scheduled secondary shared short silent single slow sorted stale static strict sudden temporary total trusted unique unknown unused upper urgent valid verified virtual visible warm weak wide'.split(
    ' ',
  );

export const noun = (random: Random): string => random.pick(NOUNS);
export const verb = (random: Random): string => random.pick(VERBS);
export const adjective = (random: Random): string => random.pick(ADJECTIVES);

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function variableName(random: Random): string {
  const head = noun(random);
  if (random.chance(0.35)) return head;
  return random.chance(0.5) ? head + capitalized(noun(random)) : adjective(random) + capitalized(head);
}

export const functionName = (random: Random): string =>
  verb(random) + (random.chance(0.3) ? capitalized(adjective(random)) : '') + capitalized(noun(random));

export const typeName = (random: Random): string => capitalized(noun(random)) + capitalized(noun(random));

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
