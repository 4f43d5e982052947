! A ring of 5 integers, and a broadcast of 3, by the binding that MODULE names: for test_record.py.
program ring
  use MODULE
  implicit none
  integer :: error, rank, ranks, x(5), y(5)
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  x = rank
  call mpi_sendrecv(x, 5, mpi_integer, mod(rank + 1, ranks), 0, y, 5, mpi_integer, &
                    mod(rank + ranks - 1, ranks), 0, mpi_comm_world, mpi_status_ignore, error)
  call mpi_bcast(x, 3, mpi_integer, 0, mpi_comm_world, error)
  call mpi_finalize(error)
end program
