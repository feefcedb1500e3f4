/** To replace the toolkit, change only this folder. */
export { Button, IconButton, LinkButton } from './Button';
export { Checkbox } from './Checkbox';
export { Combobox } from './Combo';
export { Dropdown, type DropdownChoice } from './Dropdown';
export { Icon } from './Icon';
export { ProgressRing } from './ProgressRing';
export { Slider } from './Slider';
export { TextArea, TextField } from './TextField';
