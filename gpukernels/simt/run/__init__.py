"""What translated kernels run on: lanes and warps, memory, schedules, the recorder of a trace."""
