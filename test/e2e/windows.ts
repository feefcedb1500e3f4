/** The windows that scenarios of several files share: whoever opens with one of these runs in it. */
import type { Shared } from './bed';

/** Of a user who has set nothing, with a folder of their own. */
export const plainWindow: Shared['open'] = (bed) =>
  bed.open({ home: bed.folder(), folder: bed.folder({ 'readme.txt': 'A workspace.' }) });

/** The same once more, for the panel: the two run side by side. */
export const panelWindow: Shared['open'] = (bed) => plainWindow(bed);
