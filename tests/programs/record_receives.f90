! Rings of 5 and 7 integers and a broadcast of 3, by the binding that MODULE names, with requests
! and statuses: for test_record_goal.py.
program receives
  use MODULE
  implicit none
  integer :: error, rank, ranks, x(7), y(7), before, next
  REQUEST :: requests(2)
  STATUS
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  x = rank
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call mpi_irecv(y, 5, mpi_integer, mpi_any_source, mpi_any_tag, mpi_comm_world, requests(1), error)
  call mpi_isend(x, 5, mpi_integer, next, 4, mpi_comm_world, requests(2), error)
  call mpi_waitall(2, requests, mpi_statuses_ignore, error)
  call mpi_barrier(mpi_comm_world, error)
  call mpi_isend(x, 7, mpi_integer, next, 6, mpi_comm_world, requests(1), error)
  call mpi_probe(before, 6, mpi_comm_world, status, error)
  call mpi_recv(y, 7, mpi_integer, before, 6, mpi_comm_world, status, error)
  call mpi_wait(requests(1), mpi_status_ignore, error)
  call mpi_bcast(x, 3, mpi_integer, 0, mpi_comm_world, error)
  call mpi_finalize(error)
end program
